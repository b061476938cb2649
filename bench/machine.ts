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

/** Of what is installed, not of what was asked for. */
export function packageVersions(named = packages): Record<string, string> {
  const versions = named.map((name) => [name, versionOf(`node_modules/${name}/package.json`)] as const)
  return {
    Node: process.versions.node,
    unstuck: versionOf('../package.json'),
    ...Object.fromEntries(versions),
  }
}

export function versionOf(path: string): string {
  const { version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string }
  return version
}
