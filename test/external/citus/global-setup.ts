import type { TestProject } from 'vitest/node'
import { type Cluster, startCluster } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    citusUrl: string
  }
}

let cluster: Cluster | undefined

export async function setup({ provide }: TestProject): Promise<void> {
  cluster = await startCluster(process.env['UNSTUCK_CITUS'] ?? '')
  provide('citusUrl', cluster.url)
}

export async function teardown(): Promise<void> {
  await cluster?.stop()
}
