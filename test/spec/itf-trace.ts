// A trace of spec/lease.qnt as Quint writes it (Informal Trace Format): the states of a run, one after another.
import { readdirSync, readFileSync } from 'node:fs'

export interface ModelJob {
  status: string
  worker: string
  lease: number
  fence: number
  attempt: number
  failures: number
  crashes: number
  generation: number
  isCancelAsked: boolean
  finishedLease: number
}

export interface ModelState {
  lastStep: { verb: string; worker: string; job: number; lease: number; answer: string }
  jobs: ModelJob[]
}

export function listTraces(folder: URL): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.itf.json'))
    .toSorted()
}

export function readTrace(folder: URL, file: string): ModelState[] {
  const { states } = plain(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))) as {
    states: Record<string, unknown>[]
  }
  return states.map((state) => {
    // `sound::lease::jobs`, by the module that the run began in.
    const byName = Object.entries(state).map(([name, value]) => [name.split('::').at(-1), value])
    return Object.fromEntries(byName) as ModelState
  })
}

/** Numbers for `{"#bigint": "1"}`, and a list for a map whose keys are 0, 1, …. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('#bigint' in value) return Number(value['#bigint'])
  if ('#map' in value) return (value['#map'] as [unknown, unknown][]).map(([, item]) => plain(item))
  if ('#set' in value) return plain(value['#set'])
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]))
}
