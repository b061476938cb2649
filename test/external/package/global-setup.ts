import { rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { type Packed, packPackages } from './packed.ts'

declare module 'vitest' {
  interface ProvidedContext {
    packed: Packed
  }
}

/** Packed once for all files. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const packed = await packPackages()
  provide('packed', packed)
  return () => rmSync(packed.home, { recursive: true, force: true })
}
