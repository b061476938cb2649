// One of two shards is killed: what concerns the other goes on, and what cannot be done says why.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../embedded/src/index.ts'
import { type OpenTable, openTable } from '../../src/compose/open-table.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore, Shards } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { createShardedStore } from '../../src/store/sharded/sharded-store.ts'
import { shardNumberOf } from '../../src/store/shards.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let folder: string
let first: TestDatabase
let server: PostgresServer
let opened: OpenTable[]
let store: JobStore<SqlClient>
let shards: Shards<SqlClient>
const reached: (string | null)[] = []

const startSecond = (port?: number) =>
  startPostgres({
    dataDir: join(folder, 'data'),
    settings: { fsync: 'off' },
    binaries: process.env['UNSTUCK_TEST_BINARIES'],
    ...(port === undefined ? {} : { port }),
  })

async function killSecond(): Promise<void> {
  await server.kill()
}

async function restartSecond(): Promise<void> {
  server = await startSecond(server.port)
  const isBack = async () => (await store.readHealth()).silentShards === undefined
  await expect.poll(isBack, { timeout: 30_000 }).toBe(true)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unstuck-shards-'))
  first = await createInstalledDatabase()
  server = await startSecond()
  await migrateUp({ databaseUrl: server.url, schema: 'unstuck', profile, shard: 1 })
  opened = [first.url, server.url].map((databaseUrl) => openTable({ databaseUrl, schema: 'unstuck', table }))
  store = createShardedStore({
    shards: opened.map((open, number) => ({
      number,
      name: `shard ${number}`,
      store: open.store,
      isDraining: false,
      canClaim: () => true,
    })),
    onReach: (shard, error) => reached.push(error === null ? null : shard.name),
  })
  shards = store.shards as Shards<SqlClient>
}, 120_000)

afterAll(async () => {
  await Promise.all(opened.map((open) => open.close()))
  await server.stop()
  await first.drop()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  const jobs = await store.listJobs({})
  await store.discardJobs(jobs.jobs.map(({ id }) => id))
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
  it('OPS-15 stops neither claims nor completions of the other, and loses nothing', async () => {
    const [here, there] = [await enqueueOn(0), await enqueueOn(1)]
    expect([here, there].map(shardNumberOf)).toEqual([0, 1])
    const request = { workerId: 'worker-1', queues: ['asr'], limit: 10 }
    await killSecond()
    const claimed = await store.claimJobs(request)
    expect(claimed.map(({ jobId }) => jobId)).toEqual([here])
    expect(await store.claimJobs(request)).toEqual([])
    expect(await store.completeJobs(claimed)).toMatchObject([{ jobId: here, outcome: 'completed' }])
    await expect(store.getJob(there)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringContaining('shard 1'),
    })
    await restartSecond()
    const rescued = await store.claimJobs(request)
    expect(rescued.map(({ jobId }) => jobId)).toEqual([there])
    expect(await store.completeJobs(rescued)).toMatchObject([{ outcome: 'completed' }])
    expect(reached).toEqual(['shard 1', null])
  }, 60_000)

  it('OPS-15 is named by reads, which answer for the others', async () => {
    await enqueueOn(0)
    await enqueueOn(1)
    await killSecond()
    expect(await store.readHealth()).toMatchObject({ waiting: 1, silentShards: ['shard 1'] })
    const page = await store.listJobs({})
    expect([page.jobs.length, page.silentShards]).toEqual([1, ['shard 1']])
    expect((await store.listQueues()).silentShards).toEqual(['shard 1'])
    await restartSecond()
    expect((await store.listJobs({})).jobs).toHaveLength(2)
    expect(await store.readHealth()).not.toHaveProperty('silentShards')
  }, 60_000)

  it('OPS-15 gets no new jobs, except that a dedupe key fails until it is back', async () => {
    await killSecond()
    await store.readHealth()
    const jobs = await Promise.all(Array.from({ length: 20 }, () => store.enqueueJobs([{ type: 'asr' }])))
    expect(jobs.flat().every(({ jobId }) => shardNumberOf(jobId) === 0)).toBe(true)
    await expect(enqueueOn(1)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE', isRetryable: true })
    await restartSecond()
    expect(shardNumberOf(await enqueueOn(1))).toBe(1)
  }, 60_000)

  it('OPS-15 is named by a change of all shards, which the others have', async () => {
    await killSecond()
    await expect(store.pauseQueue('asr')).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: 'not applied to shard 1; the other shards have it',
    })
    await restartSecond()
    expect(await store.pauseQueue('asr')).toBe(true)
    expect(await store.resumeQueue('asr')).toBe(true)
  }, 60_000)

  it('OPS-15 its leases get no heartbeat, those of the other shard do', async () => {
    await enqueueOn(0)
    await enqueueOn(1)
    const leases = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 10 })
    expect(leases).toHaveLength(2)
    await killSecond()
    const { answers } = await store.heartbeatJobs(leases)
    expect(answers.map(({ jobId, answer }) => [shardNumberOf(jobId), answer])).toEqual([[0, 'kept']])
    await restartSecond()
    expect(await store.completeJobs(leases)).toMatchObject([
      { outcome: 'completed' },
      { outcome: 'completed' },
    ])
  }, 60_000)
})
