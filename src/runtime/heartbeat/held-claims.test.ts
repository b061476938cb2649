import { expect, it } from 'vitest'
import type { Lease } from '../../job/lease.ts'
import { HeldClaims } from './held-claims.ts'
import { LeaseChanges } from './lease-changes.ts'

/** A worker whose messages reach its heartbeat thread when it flushes them. */
function start() {
  const held = new HeldClaims()
  const changes = new LeaseChanges((taken, dropped) => held.change(taken, dropped))
  return { held, changes }
}

const lease = (leaseId: string, jobId: string): Lease => ({ jobId, leaseId })
const [a1, a2, b1] = [lease('a', '1'), lease('a', '2'), lease('b', '1')]

it('LEASE-4 heartbeats extend what is held, and no job that has ended', () => {
  const { held, changes } = start()
  for (const each of [a1, a2, b1]) changes.hold(each)
  changes.flush()
  expect(held.list()).toEqual([a1, a2, b1])
  changes.drop(a1)
  changes.dropAll('b')
  changes.flush()
  expect(held.list()).toEqual([a2])
})

it('LEASE-4 a job that was claimed and ended between two messages is not extended', () => {
  const { held, changes } = start()
  changes.hold(a1)
  changes.hold(a2)
  changes.drop(a1)
  changes.flush()
  expect(held.list()).toEqual([a2])
})

it('LEASE-4 a lease that a failed transaction takes again is extended again', () => {
  const { held, changes } = start()
  changes.hold(a1)
  changes.hold(a2)
  changes.flush()
  held.drop(a1)
  changes.drop(a2)
  changes.hold(a1)
  changes.flush()
  expect(held.list()).toEqual([a1])
})

it('LEASE-4 nothing is left of a claim whose jobs were dropped one by one', () => {
  const { held, changes } = start()
  changes.hold(a1)
  changes.flush()
  held.drop(a1)
  expect(held.list()).toEqual([])
  changes.drop(a1)
  changes.flush()
  expect(held.list()).toEqual([])
})

it('LEASE-4 nothing is left of a claim whose last job, handed over to a transaction, is dropped after the others', () => {
  const { held, changes } = start()
  for (const each of [a1, a2]) changes.hold(each)
  changes.flush()
  held.drop(a1)
  changes.dropAll('a')
  changes.drop(a1)
  changes.flush()
  expect(held.list()).toEqual([])
})
