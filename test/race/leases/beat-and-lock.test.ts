// A beat writes rows that nobody holds without a lock before, and is delayed by no row that somebody does hold (C4).
import { describe, expect, it } from 'vitest'
import {
  beat,
  complete,
  leaseOf,
  MINUTE,
  msBetween,
  readJob,
  startMany,
} from '../../../src/store/conformance/builders.ts'
import type { HeartbeatReport } from '../../../src/store/job-store.ts'
import { buildGates, closeGate } from '../gate.ts'
import { type Connection, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench({ setUp: buildGates })

const answersOf = ({ answers }: HeartbeatReport) => answers.map(({ answer }) => answer)

/** A version that was written after a lock by the same transaction carries that transaction as its xmax. */
async function lockedVersions(onlooker: Connection): Promise<number> {
  const rows = await onlooker.query("select from unstuck.jobs where xmax <> '0'")
  return rows.length
}

describe('a beat of rows that nobody holds', () => {
  it('LEASE-4 writes each without a lock before: after a claim, after another beat, after a beat that had to lock', async () => {
    const { store, connect } = opened()
    const [beater, user] = [await connect(), await connect()]
    const leases = (await startMany(store, 5)).map(leaseOf)
    expect(await lockedVersions(user)).toBe(5)

    await beater.store.heartbeatJobs(leases)
    expect(await lockedVersions(user)).toBe(0)
    await beater.store.heartbeatJobs(leases)
    expect(await lockedVersions(user)).toBe(0)

    await user.begin()
    await user.query('select from unstuck.jobs for key share')
    expect(new Set(answersOf(await beater.store.heartbeatJobs(leases)))).toEqual(new Set(['kept']))
    await user.commit()
    await beater.store.heartbeatJobs(leases)
    await beater.store.heartbeatJobs(leases)
    expect(await lockedVersions(user)).toBe(0)
  })

  it('LEASE-4 leaves the lock timeout of its caller as it was', async () => {
    const { store, connect } = opened()
    const caller = await connect()
    const [lease] = (await startMany(store, 1)).map(leaseOf)
    if (lease === undefined) throw new Error('there is no job')

    await caller.begin()
    await caller.query("set local lock_timeout = '7s'")
    expect(await beat(caller.store, lease)).toBe('kept')
    expect(await caller.query('show lock_timeout')).toEqual([{ lock_timeout: '7s' }])
    await caller.commit()
  })
})

describe('a beat that asks about one lease three times', () => {
  it.each([
    ['nobody holds', 'select from unstuck.jobs where false', 'kept'],
    ['another transaction refers to', 'select from unstuck.jobs for key share', 'kept'],
    ['somebody holds', 'select from unstuck.jobs for update', 'busy'],
  ])('LEASE-4 gets the same answer each time for a row that %s', async (_, lock, answer) => {
    const { store, connect } = opened()
    const [beater, user] = [await connect(), await connect()]
    const [lease] = (await startMany(store, 1)).map(leaseOf)
    if (lease === undefined) throw new Error('there is no job')

    // The plan of a table with other statistics, which locks a row after it has written the one before.
    await beater.query('set enable_hashjoin = off')
    await beater.query('set enable_mergejoin = off')
    await user.begin()
    await user.query(lock)
    const answers = await beater.query(
      'select answer from unstuck.heartbeat_jobs(array[$1, $1, $1]::uuid[], array[$2, $2, $2]::uuid[])',
      [lease.jobId, lease.leaseId],
    )
    await user.rollback()
    expect(answers).toEqual([{ answer }, { answer }, { answer }])
  })
})

/** Three jobs of one stage, and a beat that has looked at the row of the first and not written it. */
async function betweenLookAndWrite({ store, connect, pool }: Race) {
  const [beater, other, keeper] = [await connect(), await connect(), await connect()]
  await store.writePolicy({ stageLeasesMs: { clip: MINUTE } })
  const leases = (await startMany(store, 3)).map(leaseOf)
  const [first] = leases
  if (first === undefined) throw new Error('there are no jobs')
  // Only the limit of the beat itself is left.
  await beater.query('set lock_timeout = 0')
  const gate = await closeGate(pool, keeper, beater, 'stage_lease_ms')
  const pending = await gate.arrive(() => beater.store.heartbeatJobs(leases))
  return { other, gate, pending, leases, first }
}

describe('a row that is taken between the look of a beat and its write', () => {
  it('LEASE-4 is busy while it is held, and the other jobs of the worker are kept', async () => {
    const race = opened()
    const { other, gate, pending, leases, first } = await betweenLookAndWrite(race)

    await other.begin()
    await other.query('select from unstuck.jobs where id = $1 for no key update', [first.jobId])
    await gate.open()
    expect(answersOf(await pending.answer)).toEqual(['busy', 'kept', 'kept'])
    await other.rollback()

    for (const { jobId } of leases.slice(1)) {
      const job = await readJob(race.store, jobId)
      expect(msBetween(job.heartbeatAt, job.leaseExpiresAt)).toBe(MINUTE)
    }
  })

  it('LEASE-5 is finished if its lease has ended it in that moment, and is not written', async () => {
    const race = opened()
    const { other, gate, pending, first } = await betweenLookAndWrite(race)
    const { heartbeatAt } = await readJob(race.store, first.jobId)

    expect(await complete(other.store, first)).toBe('completed')
    await gate.open()
    expect(answersOf(await pending.answer)).toEqual(['finished', 'kept', 'kept'])
    expect(await readJob(race.store, first.jobId)).toMatchObject({ status: 'succeeded', heartbeatAt })
  })
})
