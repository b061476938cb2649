// Notifications as a plain listener of PostgreSQL gets them. Each test ends with a notification of its own on the same
// channel: PostgreSQL delivers in order of commit, so what came before it is all there was.
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../src/job/lease.ts'
import { nativePolicy } from '../../src/policy/policy.ts'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createPostgresStore, inTransaction, migrateUp } from '../../src/store/postgres/index.ts'
import { elapse } from '../support/postgres-harness.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const longSchema = `unstuck_${'x'.repeat(55)}`
const native = nativeProfile('unstuck')
const longNamed = nativeProfile(longSchema)
const table = native.tables[0]
let database: TestDatabase
let store: JobStore<SqlClient>
let client: pg.Client
let heard: { channel: string; payload: string }[]

beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: native })
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
  await migrateUp({ databaseUrl: database.url, schema: longSchema, profile: longNamed })
  store = createPostgresStore({ client: database.pool, table: native.tables[0] })
  client = await database.connect()
  client.on('notification', ({ channel, payload = '' }) => heard.push({ channel, payload }))
  await client.query(`select unstuck.listen_to_hints('native'), unstuck.listen_to_hints('jobs')`)
})
afterAll(() => database.drop())

beforeEach(async () => {
  heard = []
  await database.pool.query('truncate unstuck.jobs; delete from unstuck.pauses; delete from unstuck.breakers')
  await database.pool.query('delete from unstuck.queue_limits')
  await store.writePolicy(nativePolicy)
})

/** The hints that the work sent: the channel, and the jobs if it names any. */
async function hintsOf(work: () => Promise<unknown>): Promise<string[]> {
  await untilQuiet()
  await work()
  return untilQuiet()
}

async function untilQuiet(): Promise<string[]> {
  const arrived = new Promise<void>((resolve) => {
    const look = ({ payload }: { payload?: string | undefined }) => {
      if (payload !== 'end') return
      client.off('notification', look)
      resolve()
    }
    client.on('notification', look)
  })
  await database.pool.query(`select pg_notify(unstuck.hint_channel('native'), 'end')`)
  await arrived
  const hints = heard.filter(({ payload }) => payload !== 'end')
  heard = []
  return hints.map(({ channel, payload }) => (payload === '' ? channel : `${channel} ${jobsOf(payload)}`))
}

/** The seed is the same in a transaction, and another in the next. */
const seeds: number[] = []
function jobsOf(payload: string): string {
  const { seed, jobs } = JSON.parse(payload) as { seed: number; jobs: unknown }
  seeds.push(seed)
  return JSON.stringify(jobs)
}

const jobs = (count: number, job = {}) => Array.from({ length: count }, () => ({ type: 'a', ...job }))
const claim = () => store.claimJobs({ workerId: 'w', queues: ['a'], limit: 10 })
const hour = 3_600_000

describe('enqueue', () => {
  it('WORK-1 C16 a batch of jobs sends one hint: the queues, how many jobs of each, and a number', async () => {
    expect(await hintsOf(() => store.enqueueJobs(jobs(50)))).toEqual(['unstuck.native [["a",50]]'])
    const mixed = [...jobs(2), ...jobs(1, { queue: 'b "c"' }), ...jobs(1, { queue: 'b "c"', type: 'x' })]
    const [hint = ''] = await hintsOf(() => store.enqueueJobs(mixed))
    const counts = JSON.parse(hint.slice('unstuck.native '.length)) as [string, number][]
    expect(Object.fromEntries(counts)).toEqual({ a: 2, 'b "c"': 2 })
    const [first, second] = seeds.slice(-2)
    expect(Number.isInteger(first)).toBe(true)
    expect(first).not.toBe(second)
  })

  it('WORK-1 C16 a hint does not name a queue that no notification can hold', async () => {
    // As an attached table may have them.
    await store.enqueueJobs([{ type: 'a' }])
    await database.pool.query(`update unstuck.jobs set queue = repeat('q', 9000)`)
    const leases = await store.claimJobs({ workerId: 'w', queues: ['q'.repeat(9_000)], limit: 1 })
    expect(await hintsOf(() => store.releaseJobs(leases))).toEqual(['unstuck.native [[null,1]]'])
  })

  it('WORK-1 C16 a hint of very many queues names none', async () => {
    const many = Array.from({ length: 500 }, (_, n) => ({ type: `a type with a long name, number ${n}` }))
    expect(await hintsOf(() => store.enqueueJobs(many))).toEqual(['unstuck.native [[null,500]]'])
  })

  it('WORK-1 jobs for later are announced with the time until they are due', async () => {
    const later = [...jobs(1), ...jobs(2, { delayMs: 1_500 })]
    expect(await hintsOf(() => store.enqueueJobs(later))).toEqual(['unstuck.native [["a",3,0,1500]]'])
    expect(await hintsOf(() => store.enqueueJobs(jobs(30, { delayMs: 2_000 })))).toEqual([
      'unstuck.native [["a",30,2000]]',
    ])
  })

  it('WORK-1 several calls in one transaction send one hint, with the commit', async () => {
    const hints = hintsOf(() =>
      inTransaction(database.pool, async (tx) => {
        await store.enqueueJobs(jobs(1), { tx })
        await store.enqueueJobs(jobs(1), { tx })
        expect(await untilQuiet()).toEqual([])
      }),
    )
    expect(await hints).toEqual(['unstuck.native [["a",1]]'])
  })

  it('WORK-1 a transaction that is rolled back sends none', async () => {
    const rollBack = () =>
      inTransaction(database.pool, async (tx) => {
        await store.enqueueJobs(jobs(1), { tx })
        throw new Error('no')
      })
    expect(await hintsOf(() => rollBack().catch(() => {}))).toEqual([])
  })

  it('WORK-1 jobs that are due in over ten minutes, duplicates, and no jobs at all send none', async () => {
    await store.enqueueJobs([{ type: 'a', dedupeKey: 'k' }])
    expect(await hintsOf(() => store.enqueueJobs(jobs(2, { delayMs: hour })))).toEqual([])
    expect(await hintsOf(() => store.enqueueJobs(jobs(20, { delayMs: hour })))).toEqual([])
    expect(await hintsOf(() => store.enqueueJobs([{ type: 'a', dedupeKey: 'k' }]))).toEqual([])
    expect(await hintsOf(() => store.enqueueJobs([]))).toEqual([])
    const mixed = [...jobs(2, { delayMs: hour }), { type: 'a', runAt: new Date(0) }]
    expect(await hintsOf(() => store.enqueueJobs(mixed))).toHaveLength(1)
  })

  it('WORK-1 nothing is sent where the policy, stored or of the call, switches hints off', async () => {
    expect(await hintsOf(() => store.enqueueJobs(jobs(1), { policy: { notify: 'off' } }))).toEqual([])
    await store.writePolicy({ notify: 'off' })
    expect(await hintsOf(() => store.enqueueJobs(jobs(1)))).toEqual([])
    expect(await hintsOf(() => store.enqueueJobs(jobs(1), { policy: { notify: 'on' } }))).toHaveLength(1)
    await expect(store.writePolicy({ notify: 'maybe' as 'on' })).rejects.toThrow('takes on or off')
  })

  it('WORK-1 an attached table has a channel of its own', async () => {
    const clip = createPostgresStore({ client: database.pool, table: clipProfile.tables[0] })
    expect(await hintsOf(() => clip.enqueueJobs([{ type: 'clip' }]))).toEqual(['unstuck.jobs [["clip",1]]'])
  })

  it.each([['nothing'], [null]])(
    'WORK-1 listening for %s, which is not attached, is refused',
    async (name) => {
      const refused = database.pool.query('select unstuck.listen_to_hints($1)', [name])
      await expect(refused).rejects.toMatchObject({ code: 'UN002' })
    },
  )

  it('WORK-1 a channel whose name would be too long is cut, and works', async () => {
    const { rows } = await client.query(`select ${longSchema}.listen_to_hints('native') as channel`)
    expect(Buffer.byteLength(rows[0].channel)).toBe(63)
    const table = longNamed.tables[0]
    const other = createPostgresStore({ client: database.pool, table, schema: longSchema })
    expect(await hintsOf(() => other.enqueueJobs(jobs(1)))).toEqual([`${rows[0].channel} [["a",1]]`])
  })
})

describe('what makes waiting jobs claimable', () => {
  it('WORK-1 a release sends a hint, unless it has a delay', async () => {
    await store.enqueueJobs(jobs(1))
    let leases = await claim()
    expect(await hintsOf(() => store.releaseJobs(leases))).toHaveLength(1)
    expect(await hintsOf(() => store.releaseJobs(leases))).toEqual([])
    leases = await claim()
    expect(await hintsOf(() => store.releaseJobs(leases, { delayMs: hour }))).toEqual([])
  })

  it('WORK-1 a release with a delay, a failure and a reap say when their jobs are due', async () => {
    await store.writePolicy({ failureBackoffStepsMs: [2_000], failureBackoffJitterMs: 0, requeueRatePerS: 0 })
    await store.enqueueJobs(jobs(2))
    const leases = await claim()
    const later = await hintsOf(() => store.releaseJobs(leases, { delayMs: 1_000, spreadMs: 500 }))
    expect(later).toEqual(['unstuck.native [["a",2,1000,1500]]'])
    await elapse(database.pool, table, 'unstuck', hour)
    const failures = (await claim()).map((lease) => ({ ...lease, code: 'GW_5XX', reason: 'no answer' }))
    expect(await hintsOf(() => store.failJobs(failures))).toEqual(['unstuck.native [["a",2,2000]]'])
    await elapse(database.pool, table, 'unstuck', hour)
    await claim()
    await elapse(database.pool, table, 'unstuck', hour)
    expect(await hintsOf(() => store.sweepJobs())).toEqual(['unstuck.native [["a",2,1000]]'])
    expect(await hintsOf(() => store.sweepJobs())).toEqual([])
  })

  it('WORK-1 jobs that end, and those due in over ten minutes, are in no hint', async () => {
    await store.writePolicy({ failureBackoffStepsMs: [600_001], failureBackoffJitterMs: 0 })
    await store.enqueueJobs(jobs(2))
    const [first, second] = await claim()
    const fail = (lease = first, isRetryable = true) =>
      store.failJobs([{ ...(lease as ClaimedJob), code: 'BAD', reason: 'bad', isRetryable }])
    expect(await hintsOf(() => fail(first))).toEqual([])
    expect(await hintsOf(() => fail(second, false))).toEqual([])
  })

  it('WORK-1 hints that are switched off are off for jobs that are due later, too', async () => {
    await store.enqueueJobs(jobs(1))
    const failures = (await claim()).map((lease) => ({ ...lease, code: 'GW_5XX', reason: 'no answer' }))
    expect(await hintsOf(() => store.failJobs(failures, { policy: { notify: 'off' } }))).toEqual([])
  })

  it('REAP-14 a mass of jobs is one hint of at most a few hundred bytes, never earlier than a job', async () => {
    await store.writePolicy({ requeueRatePerS: 50, maxCrashes: 10 })
    await store.enqueueJobs(jobs(1_000))
    for (let batch = 0; batch < 2; batch++)
      await store.claimJobs({ workerId: `${batch}`, queues: ['a'], limit: 500 })
    await elapse(database.pool, table, 'unstuck', hour)
    const [hint = '', ...others] = await hintsOf(() => store.sweepJobs({ limit: 1_000 }))
    expect(others).toEqual([])
    expect(hint.length).toBeLessThan(1_000)
    const [[queue, count, ...delays] = []] = JSON.parse(hint.replace('unstuck.native ', '')) as number[][]
    expect([queue, count]).toEqual(['a', 1_000])
    const { rows } = await database.pool.query<{ ms: number }>(
      `select extract(epoch from run_at - updated_at)::float8 * 1000 as ms from unstuck.jobs order by 1`,
    )
    const waits = rows.map(({ ms }) => ms)
    const span = (waits.at(-1) ?? 0) - (waits[0] ?? 0)
    // Each job is due at a moment of the hint or shortly before it.
    const lateness = waits.map((ms) => Math.min(...delays.filter((delay) => delay >= ms - 1)) - ms)
    expect(Math.max(...lateness)).toBeLessThanOrEqual(Math.max(100, Math.ceil(span / 100)) + 1)
  })

  it('OPS-1 a retry by hand sends a hint, and one that found nothing dead does not', async () => {
    const [job] = await store.enqueueJobs(jobs(1))
    const ids = [job?.jobId ?? '']
    expect(await hintsOf(() => store.retryJobs(ids))).toEqual([])
    const leases = await claim()
    await store.failJobs(
      leases.map((lease) => ({ ...lease, code: 'BAD', reason: 'bad', isRetryable: false })),
    )
    expect(await hintsOf(() => store.retryJobs(ids))).toHaveLength(1)
    expect((await store.getJob(ids[0] ?? ''))?.status).toBe('waiting')
  })

  it('RATE-7 a cancelled or discarded job of a group in order announces the next one', async () => {
    await store.limitQueue('a', { groupOrder: 'fifo' })
    const group = 'account'
    const [first, second] = await store.enqueueJobs([
      { type: 'a', group, delayMs: hour },
      { type: 'a', group, delayMs: hour },
      { type: 'a', group },
    ])
    expect(await claim()).toEqual([])
    expect(await hintsOf(() => store.cancelJobs([first?.jobId ?? '']))).toEqual(['unstuck.native [["a",1]]'])
    expect(await hintsOf(() => store.cancelJobs([first?.jobId ?? '']))).toEqual([])
    expect(await hintsOf(() => store.discardJobs([first?.jobId ?? '']))).toEqual([])
    expect(await hintsOf(() => store.discardJobs([second?.jobId ?? '']))).toEqual([
      'unstuck.native [["a",1]]',
    ])
    expect(await claim()).toHaveLength(1)
  })

  it('RATE-7 waiting jobs of groups without an order block none, and announce none', async () => {
    await store.limitQueue('a', { groupConcurrency: 1 })
    const [first, second] = await store.enqueueJobs(jobs(2, { group: 'tenant', delayMs: hour }))
    expect(await hintsOf(() => store.cancelJobs([first?.jobId ?? '']))).toEqual([])
    expect(await hintsOf(() => store.discardJobs([second?.jobId ?? '']))).toEqual([])
  })

  it('BREAK-3 a queue that is resumed and a breaker that closes send a hint', async () => {
    await store.pauseQueue('a')
    expect(await hintsOf(() => store.resumeQueue('a'))).toHaveLength(1)
    expect(await hintsOf(() => store.resumeQueue('a'))).toEqual([])
    await store.mapDependency('a', 'gateway')
    await store.mapDependency('b', 'gateway')
    await store.holdBreaker('gateway')
    expect(await hintsOf(() => store.resumeBreaker('gateway'))).toEqual(['unstuck.native'])
    expect(await hintsOf(() => store.resumeBreaker('gateway'))).toEqual([])
  })

  it('WORK-1 claims, beats and completions send none', async () => {
    await store.enqueueJobs(jobs(3))
    const hints = await hintsOf(async () => {
      const leases = await claim()
      await store.heartbeatJobs(leases)
      await store.completeJobs(leases)
    })
    expect(hints).toEqual([])
  })
})
