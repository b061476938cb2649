// The two stores that a run compares: the memory store as the model, and PostgreSQL. Ids differ between them, so jobs and
// leases are known by their place in the order they came, which is the same on both sides.
import { inspect, isDeepStrictEqual } from 'node:util'
import type { Lease } from '../../src/job/lease.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import type { Snapshot } from './snapshot.ts'

export interface Side {
  store: JobStore
  elapse(ms: number): Promise<void>
  read(): Promise<Snapshot>
  /** Its replica catches up. */
  replicate(): Promise<void>
  /** Its replica is promoted: what was written since it caught up is gone. */
  failOver(): Promise<void>
  /** Runs `work` on the store inside a transaction that stays open until it has ended, then commits or rolls back. */
  inTransaction<T>(isCommitted: boolean, work: (options: { tx?: never }) => Promise<T>): Promise<T>
  /** Every job ever created, pruned ones too. */
  jobIds: string[]
  /** Every lease ever granted, stale ones too. */
  leases: Lease[]
  /** Last sweep of the side's reaper, on the clock of its store. */
  lastSweptAtMs: number | null
}

export interface Model extends Side {
  /** Lets a moment pass, as between any two calls of a database. */
  tick(): void
  sinceSweepMs: number
  steps: number
  /** Steps so far, by name: the history of a counterexample. */
  story: string[]
}

export interface Pair {
  model: Model
  system: Side
}

export function nameOfJob(side: Side, jobId: string): string {
  const index = side.jobIds.indexOf(jobId)
  return index === -1 ? `unknown job ${jobId}` : `job ${index}`
}

export function nameOfLease(side: Side, jobId: string, leaseId: string | null): string | null {
  if (leaseId === null) return null
  const index = side.leases.findLastIndex((lease) => lease.jobId === jobId && lease.leaseId === leaseId)
  return index === -1 ? `unknown lease ${leaseId}` : `lease ${index}`
}

/** Asks both sides the same and holds their answers, which are in names and not in ids, to each other. */
export async function agree<T>(
  { model, system }: Pair,
  what: string,
  ask: (side: Side) => Promise<T>,
  tell: (answer: T) => unknown = (answer) => answer,
): Promise<T> {
  model.tick()
  const expected = await ask(model)
  model.story.push(
    `${what} → ${inspect(tell(expected), { depth: 6, breakLength: Number.POSITIVE_INFINITY, compact: 9 })}`,
  )
  const actual = await ask(system)
  if (!isDeepStrictEqual(actual, expected)) throw new Error(difference(model, what, actual, expected))
  return expected
}

/** As `agree`, for what is looked at after every step and is no part of the story. */
export function assertEqual(model: Model, what: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Error(difference(model, what, actual, expected))
}

function difference(model: Model, what: string, actual: unknown, expected: unknown): string {
  const fields = differingFields(actual, expected)
  return [
    `PostgreSQL and the model differ in ${what}.`,
    `PostgreSQL: ${show(narrow(actual, fields))}`,
    `the model:  ${show(narrow(expected, fields))}`,
    'Story:',
    ...model.story.map((line, index) => `  ${index + 1}. ${line}`),
  ].join('\n')
}

/** Reduces two records to the fields that differ. */
function differingFields(actual: unknown, expected: unknown): string[] | null {
  if (!isRecord(actual) || !isRecord(expected)) return null
  return Object.keys({ ...expected, ...actual }).filter(
    (field) => !isDeepStrictEqual(actual[field], expected[field]),
  )
}

function narrow(value: unknown, fields: string[] | null): unknown {
  if (fields === null || !isRecord(value)) return value
  return Object.fromEntries(fields.map((field) => [field, value[field]]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function show(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: 160, compact: 6 })
}
