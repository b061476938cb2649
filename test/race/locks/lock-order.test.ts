// Rows are locked by id, whatever order the ids come in, so that two batches never wait for each other in a circle (C12).
import { describe, expect, it } from 'vitest'
import type { ClaimedJob, Lease } from '../../../src/job/lease.ts'
import {
  claimMany,
  leaseOf,
  MINUTE,
  outcomeOf,
  readJob,
  startMany,
  TYPE,
} from '../../../src/store/conformance/builders.ts'
import type { JobOutcome, JobStore } from '../../../src/store/job-store.ts'
import { type Connection, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench()

interface Verb {
  verb: string
  start: (race: Race) => Promise<ClaimedJob[]>
  run: (store: JobStore, jobs: ClaimedJob[]) => Promise<JobOutcome<string>[]>
}

const start = ({ store }: Race) => startMany(store, 50)
const ids = (jobs: ClaimedJob[]) => jobs.map(({ jobId }) => jobId)

const verbs: Verb[] = [
  { verb: 'completeJobs', start, run: (store, jobs) => store.completeJobs(jobs.map(leaseOf)) },
  {
    verb: 'completeJobs of several claims',
    start: async ({ store }) => {
      const jobs = await Promise.all(Array.from({ length: 5 }, () => startMany(store, 10)))
      return jobs.flat()
    },
    run: (store, jobs) => store.completeJobs(jobs.map(leaseOf)),
  },
  {
    verb: 'completeJobs that deletes',
    start,
    run: (store, jobs) => store.completeJobs(jobs.map(leaseOf), { policy: { keepCompleted: false } }),
  },
  {
    verb: 'completeJobs of types that are kept and types that are not',
    start: async ({ store }) => {
      const types = Array.from({ length: 50 }, (_, nth) => (nth % 2 === 0 ? TYPE : 'deleted'))
      await store.enqueueJobs(types.map((type) => ({ type, queue: TYPE })))
      return claimMany(store)
    },
    run: (store, jobs) =>
      store.completeJobs(jobs.map(leaseOf), { policy: { typeKeepCompleted: { deleted: false } } }),
  },
  { verb: 'failJobs', start, run: (store, jobs) => store.failJobs(jobs.map(leaseOf)) },
  { verb: 'releaseJobs', start, run: (store, jobs) => store.releaseJobs(jobs.map(leaseOf)) },
  { verb: 'cancelJobs', start, run: (store, jobs) => store.cancelJobs(ids(jobs)) },
  {
    verb: 'retryJobs',
    start: async (race) => {
      const jobs = await start(race)
      await race.store.failJobs(jobs.map((job) => ({ ...leaseOf(job), isRetryable: false })))
      return jobs
    },
    run: (store, jobs) => store.retryJobs(ids(jobs)),
  },
]

/** The rows lie in the table from the highest id to the lowest, so that a scan of it meets them in the wrong order. */
async function storeInReverse({ pool }: Race): Promise<void> {
  await pool.query(`
    begin;
    create temp table kept on commit drop as select * from unstuck.jobs;
    truncate unstuck.jobs;
    insert into unstuck.jobs select * from kept order by id desc;
    commit`)
}

const plans = { 'any plan': [], 'a scan of the whole table': ['indexscan', 'bitmapscan'] }

describe.each(verbs)('$verb', ({ start: startJobs, run }) => {
  it.each(Object.entries(plans))(
    'LEASE-5 with %s: waits for the lowest id with no other row locked, however its ids are ordered',
    async (_, off) => {
      const race = opened()
      const jobs = (await startJobs(race)).toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1))
      await storeInReverse(race)
      const [holder, batch, onlooker] = [await race.connect(), await race.connect(), await race.connect()]
      for (const name of off) await batch.query(`set enable_${name} = off`)

      await holder.begin()
      await holder.query('select from unstuck.jobs where id = $1 for update', [jobs[0]?.jobId])
      const late = await race.startBlocked(batch, holder, () => run(batch.store, jobs.toReversed()))
      const free = await onlooker.query('select id from unstuck.jobs order by id for update skip locked')
      await holder.commit()

      expect(free.map(({ id }) => id as string)).toEqual(ids(jobs.slice(1)))
      expect((await late.answer).map(({ jobId }) => jobId)).toEqual(ids(jobs.toReversed()))
    },
  )
})

describe('everything at once', () => {
  it('LEASE-5, WORK-6 completes in opposite orders beside cancels, beats and reaps never deadlock', async () => {
    const { store, elapse, connectMany } = opened()
    const [up, down, operator, beater, reaper] = await connectMany(5)
    if (!up || !down || !operator || !beater || !reaper) throw new Error('there are not five connections')

    for (let round = 0; round < 20; round++) {
      const leases = (await startMany(store, 50)).map(leaseOf)
      const reversed = leases.toReversed()
      if (round % 2 === 1) await elapse(2 * MINUTE)
      const [byUp, byDown] = await Promise.all([
        completeAndCommit(up, leases),
        completeAndCommit(down, reversed),
        operator.store.cancelJobs(reversed.map(({ jobId }) => jobId)),
        beater.store.heartbeatJobs(reversed),
        reaper.store.sweepJobs({ limit: 10 }),
      ])

      // Same leases on both sides: whoever comes second is told that it is done, or that the reaper has it.
      for (const { jobId, outcome } of byUp) {
        const other = outcomeOf(byDown, jobId)
        const pair = [outcome, other].toSorted().join(' ')
        expect(['already-done completed', 'lease-lost lease-lost'], `round ${round}`).toContain(pair)
        expect((await readJob(store, jobId)).status === 'succeeded').toBe(pair.includes('completed'))
      }
      await store.cancelJobs(leases.map(({ jobId }) => jobId))
    }
  })

  it('OPS-1, WORK-6 retries in opposite orders beside cancels bring every job back once', async () => {
    const { store, connectMany } = opened()
    const [up, down, operator] = await connectMany(3)
    if (!up || !down || !operator) throw new Error('there are not three connections')

    for (let round = 0; round < 10; round++) {
      const jobs = await startMany(store, 30)
      await store.failJobs(jobs.map((job) => ({ ...leaseOf(job), isRetryable: false })))
      const reversed = ids(jobs).toReversed()
      const [byUp, byDown] = await Promise.all([
        up.store.retryJobs(ids(jobs)),
        down.store.retryJobs(reversed),
        operator.store.cancelJobs(reversed),
      ])

      const retried = [...byUp, ...byDown].filter(({ outcome }) => outcome === 'retried')
      expect(retried.map(({ jobId }) => jobId).toSorted(), `round ${round}`).toEqual(ids(jobs).toSorted())
      await store.cancelJobs(ids(jobs))
    }
  })
})

async function completeAndCommit(connection: Connection, leases: Lease[]): Promise<JobOutcome<string>[]> {
  await connection.begin()
  const answers = await connection.store.completeJobs(leases)
  await connection.commit()
  return answers
}
