import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

export interface Machine {
  cpu: string
  cores: number
  memoryGb: number
  system: string
}

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()} ${process.arch}`,
  }
}

const packages = ['pg-boss', 'graphile-worker', 'bullmq', 'ioredis', 'pg']

/** Versions as installed, which may differ from those requested. */
export function packageVersions(named = packages): Record<string, string> {
  const versions = named.map((name) => [name, versionOf(`node_modules/${name}/package.json`)] as const)
  return {
    Node: process.versions.node,
    unstuck: versionOf('../package.json'),
    ...Object.fromEntries(versions),
  }
}

/** As its module asks for it. */
export function riverVersion(): string {
  const module = readFileSync(new URL('contenders/river/go.mod', BENCH), 'utf8')
  return /riverqueue\/river v(\S+)/.exec(module)?.[1] ?? ''
}

const BENCH = new URL('../', import.meta.url)

/** `path` is relative to bench/. */
export function versionOf(path: string): string {
  const { version } = JSON.parse(readFileSync(new URL(path, BENCH), 'utf8')) as { version: string }
  return version
}
