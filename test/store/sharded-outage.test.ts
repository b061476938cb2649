// One of two shards is killed: what concerns the other goes on, and what cannot be done says why.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OpenShards, openShards } from '../../src/compose/shards/open-shards.ts'
import type { JobStore, Shards } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { writeCursor } from '../../src/store/sharded/merge/cursors.ts'
import { shardNumberOf } from '../../src/store/shards.ts'
import { type ShardServers, startShardServers } from '../support/shard-servers.ts'

let servers: ShardServers
let opened: OpenShards
let store: JobStore<SqlClient>
let shards: Shards<SqlClient>
const reached: (string | null)[] = []

const isSecond = expect.stringMatching(/^shard 1 \(127\.0\.0\.1:\d+\/postgres unstuck\)/)

async function restartSecond(): Promise<void> {
  await servers.restartSecond()
  const isBack = async () => (await store.readHealth()).silentShards === undefined
  await expect.poll(isBack, { timeout: 30_000 }).toBe(true)
}

beforeAll(async () => {
  servers = await startShardServers()
  opened = openShards({
    shards: servers.urls.map((url, number) => ({ url, schema: 'unstuck', number, isDraining: false })),
    route: 'spread',
    onReach: (shard, error) => reached.push(error === null ? null : shard),
  })
  store = opened.store
  shards = opened.store.shards
}, 120_000)

afterAll(async () => {
  await opened.close()
  await servers.close()
})

beforeEach(async () => {
  const { jobs } = await store.listJobs({})
  await store.discardJobs(jobs.map(({ id }) => id))
})

/** A key of each shard. */
const keyOf = (number: number) => {
  for (let nth = 0; ; nth++) if (shards.forKey(`key-${nth}`).number === number) return `key-${nth}`
}

const enqueueOn = async (number: number) => {
  const [job] = await store.enqueueJobs([{ type: 'asr', dedupeKey: keyOf(number) }])
  return String(job?.jobId)
}

describe('a shard that is down', () => {
  it('OPS-15 keeps no check of the schemas from passing; another number is refused', async () => {
    await expect(opened.checkSchema?.()).resolves.toBeUndefined()
    const swapped = openShards({
      shards: servers.urls.map((url, number) => ({
        url,
        schema: 'unstuck',
        number: 1 - number,
        isDraining: false,
      })),
      route: 'spread',
    })
    await expect(swapped.checkSchema?.()).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('is installed as shard'),
    })
    await swapped.close()
    await servers.killSecond()
    await expect(opened.checkSchema?.()).resolves.toBeUndefined()
    await restartSecond()
    reached.length = 0
  }, 60_000)

  it('OPS-15 stops neither claims nor completions of the other, and loses nothing', async () => {
    const [here, there] = [await enqueueOn(0), await enqueueOn(1)]
    expect([here, there].map(shardNumberOf)).toEqual([0, 1])
    const request = { workerId: 'worker-1', queues: ['asr'], limit: 10 }
    await servers.killSecond()
    const claimed = await store.claimJobs(request)
    expect(claimed.map(({ jobId }) => jobId)).toEqual([here])
    expect(await store.claimJobs(request)).toEqual([])
    expect(await store.completeJobs(claimed)).toMatchObject([{ jobId: here, outcome: 'completed' }])
    await expect(store.getJob(there)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: isSecond,
    })
    await restartSecond()
    const rescued = await store.claimJobs(request)
    expect(rescued.map(({ jobId }) => jobId)).toEqual([there])
    expect(await store.completeJobs(rescued)).toMatchObject([{ outcome: 'completed' }])
    expect(reached).toEqual([isSecond, null])
  }, 60_000)

  it('OPS-15 is named by reads, which answer for the others', async () => {
    await enqueueOn(0)
    await enqueueOn(1)
    await servers.killSecond()
    expect(await store.readHealth()).toMatchObject({ waiting: 1, silentShards: [isSecond] })
    const page = await store.listJobs({})
    expect([page.jobs.length, page.silentShards]).toEqual([1, [isSecond]])
    expect((await store.listQueues()).silentShards).toEqual([isSecond])
    await restartSecond()
    expect((await store.listJobs({})).jobs).toHaveLength(2)
    expect(await store.readHealth()).not.toHaveProperty('silentShards')
  }, 60_000)

  it('OPS-15 gets no new jobs, except that a dedupe key fails until it is back', async () => {
    await servers.killSecond()
    await store.readHealth()
    const jobs = await Promise.all(Array.from({ length: 20 }, () => store.enqueueJobs([{ type: 'asr' }])))
    expect(jobs.flat().every(({ jobId }) => shardNumberOf(jobId) === 0)).toBe(true)
    await expect(enqueueOn(1)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE', isRetryable: true })
    await restartSecond()
    expect(shardNumberOf(await enqueueOn(1))).toBe(1)
  }, 60_000)

  it('OPS-15 is named by a change of all shards, which the others have', async () => {
    await servers.killSecond()
    await expect(store.pauseQueue('asr')).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(/^not applied to shard 1 .*; the other shards have it$/),
    })
    await restartSecond()
    expect(await store.pauseQueue('asr')).toBe(true)
    expect(await store.resumeQueue('asr')).toBe(true)
  }, 60_000)

  it('OPS-15 a call over two shards says which of its items are not confirmed', async () => {
    await servers.killSecond()
    const jobs = [1, 0].map((number) => ({ type: 'asr', dedupeKey: keyOf(number) }))
    await expect(store.enqueueJobs(jobs)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(
        /^shard 1 .*; items 0 of the call are not confirmed, the others are written$/,
      ),
      details: { unconfirmed: [0] },
    })
    await restartSecond()
    const repeated = await store.enqueueJobs(jobs)
    expect(repeated.map(({ outcome }) => outcome)).toEqual(['created', 'duplicate'])
  }, 60_000)

  it('OPS-15 a sweep whose last pages are of that shard fails as such', async () => {
    const step = await store.sweepJobs()
    expect(step.next).toBeNull()
    await servers.killSecond()
    const cursor = writeCursor(new Map([[1, null]])) ?? ''
    await expect(store.sweepJobs({ cursor })).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await restartSecond()
  }, 60_000)

  it('OPS-15 its leases get no heartbeat, those of the other shard do', async () => {
    await enqueueOn(0)
    await enqueueOn(1)
    const leases = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 10 })
    expect(leases).toHaveLength(2)
    await servers.killSecond()
    const { answers } = await store.heartbeatJobs(leases)
    expect(answers.map(({ jobId, answer }) => [shardNumberOf(jobId), answer])).toEqual([[0, 'kept']])
    await restartSecond()
    expect(await store.completeJobs(leases)).toMatchObject([
      { outcome: 'completed' },
      { outcome: 'completed' },
    ])
  }, 60_000)
})
