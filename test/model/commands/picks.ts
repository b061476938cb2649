// Which jobs or leases of the past a command is about. A run knows them only once it is there, so a pick is a number:
// from the end where negative, else round and round from the start.
import fc from 'fast-check'
import type { Lease } from '../../../src/job/lease.ts'
import type { Model, Side } from '../two-sides.ts'

const pick = fc.oneof(
  { arbitrary: fc.integer({ min: -4, max: -1 }), weight: 3 },
  { arbitrary: fc.nat({ max: 40 }), weight: 1 },
)

export const picks = fc.array(pick, { minLength: 1, maxLength: 3, size: 'max' })

/** For those who look for the few of many that are in the right state. */
export const manyPicks = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 8, size: 'max' })

export function pickIndexes(numbers: number[], count: number): number[] {
  return numbers.map((number) => (number < 0 ? Math.max(0, count + number) : number % count))
}

export interface LeasePicks {
  picks: number[]
  /** Adds the other leases of the first one's job: a stale and a current one in one call. */
  withRivals: boolean
}

export const leasePicks: fc.Arbitrary<LeasePicks> = fc.record({
  picks,
  withRivals: fc.oneof(
    { arbitrary: fc.constant(false), weight: 3 },
    { arbitrary: fc.constant(true), weight: 1 },
  ),
})

export function pickLeases(model: Model, { picks: numbers, withRivals }: LeasePicks): number[] {
  const picked = pickIndexes(numbers, model.leases.length)
  const jobId = model.leases[picked[0] ?? 0]?.jobId
  const rivals = model.leases.flatMap((lease, index) => (lease.jobId === jobId ? [index] : []))
  return withRivals ? [...picked, ...rivals] : picked
}

export function leasesAt(side: Side, indexes: number[]): Lease[] {
  return indexes.map((index) => known(side.leases[index]))
}

export function jobIdsAt(side: Side, indexes: number[]): string[] {
  return indexes.map((index) => known(side.jobIds[index]))
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the two sides know different jobs or leases')
  return value
}
