// A worker over two servers, one of which is killed and comes back: the jobs of the other go on meanwhile, and nothing is lost.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type RuntimeEvents, type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { shardNumberOf } from '../../../src/store/shards.ts'
import { startCommand } from '../../cli/support/run-command.ts'
import { type ShardServers, startShardServers } from '../../support/shard-servers.ts'

let servers: ShardServers
let apps: Unstuck[]

beforeAll(async () => {
  servers = await startShardServers()
}, 120_000)
afterAll(() => servers.close())
beforeEach(async () => {
  apps = []
  const app = open()
  await app.store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 3_000,
    heartbeatMs: 500,
    sweepIntervalMs: 500,
    reapBackoffStepsMs: [0],
    failureBackoffStepsMs: [0],
    failureBackoffJitterMs: 0,
    requeueRatePerS: 0,
  })
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
})

function open(options: UnstuckOptions = {}): Unstuck {
  const app = unstuck({
    shards: servers.urls.map((url) => ({ url })),
    pollMs: [50, 100],
    graceMs: 2_000,
    ...options,
  })
  apps.push(app)
  return app
}

const untilEvent = <Name extends keyof RuntimeEvents>(app: Unstuck, name: Name) =>
  new Promise<RuntimeEvents[Name]>((resolve) => {
    const off = app.on(name, (fields) => {
      off()
      resolve(fields)
    })
  })

/** A key of the shard. */
function keyOf(app: Unstuck, number: number, start = 0): string {
  for (let nth = start; ; nth++) if (app.shard(`key-${nth}`).number === number) return `key-${nth}`
}

const untilSucceeded = async (app: Unstuck, ids: string[]) => {
  await expect
    .poll(
      async () => {
        const jobs = await Promise.all(ids.map((id) => app.store.getJob(id).catch(() => null)))
        return jobs.filter((job) => job?.status === 'succeeded').length
      },
      { timeout: 60_000 },
    )
    .toBe(ids.length)
}

it('OPS-15 jobs of both shards run, and a handler completes in a transaction of its own shard', async () => {
  const app = open({ concurrency: 4 }).handle('asr', async (_, { tx }) =>
    tx(async (client) => {
      const { rows } = await (client as pg.ClientBase).query('select unstuck.shard_number() as shard')
      return { shard: Number((rows[0] as { shard: number }).shard) }
    }),
  )
  await app.start()
  const jobs = await app.enqueueMany(
    Array.from({ length: 20 }, (_, nth) => ({ type: 'asr', dedupeKey: `both-${nth}` })),
  )
  const ids = jobs.map(({ jobId }) => jobId)
  expect(new Set(ids.map(shardNumberOf))).toEqual(new Set([0, 1]))
  await untilSucceeded(app, ids)
  for (const id of ids) expect((await app.store.getJob(id))?.result).toEqual({ shard: shardNumberOf(id) })
}, 90_000)

it('OPS-15 a shard that is killed delays no job of the other, and its own jobs end once it is back', async () => {
  const gate = new Map<string, () => void>()
  const app = open({ concurrency: 8 })
    .handle('quick', async () => 'done')
    .handle('held', (job) => new Promise<string>((resolve) => gate.set(job.jobId, () => resolve('held'))))
  await app.start()
  const [here, there] = [
    await app.enqueue({ type: 'held', dedupeKey: keyOf(app, 0) }),
    await app.enqueue({ type: 'held', dedupeKey: keyOf(app, 1) }),
  ]
  await expect.poll(() => gate.size, { timeout: 30_000 }).toBe(2)
  const waiting = await app.enqueue({ type: 'quick', dedupeKey: keyOf(app, 1, 1_000) })
  await untilSucceeded(app, [waiting.jobId])

  const silent = untilEvent(app, 'shard:silent')
  await servers.killSecond()
  // Its handler returns while its shard is down: the result waits for it, and for nobody else.
  gate.get(there.jobId)?.()
  const during = []
  for (let nth = 0; nth < 30; nth++)
    during.push(await app.enqueue({ type: 'quick', dedupeKey: keyOf(app, 0, nth * 50) }))
  await untilSucceeded(
    app,
    during.map(({ jobId }) => jobId),
  )
  expect((await silent).shard).toContain('shard 1')
  const spread = await Promise.all(Array.from({ length: 10 }, () => app.enqueue({ type: 'quick' })))
  expect(spread.map(({ jobId }) => shardNumberOf(jobId))).toEqual(Array(10).fill(0))
  await untilSucceeded(
    app,
    spread.map(({ jobId }) => jobId),
  )
  expect(await app.store.readHealth()).toMatchObject({ silentShards: [expect.stringContaining('shard 1')] })
  expect(app.health().isHealthy).toBe(true)

  const answered = untilEvent(app, 'shard:answered')
  await servers.restartSecond()
  await answered
  const after = await app.enqueue({ type: 'quick', dedupeKey: keyOf(app, 1, 5_000) })
  gate.get(here.jobId)?.()
  await expect
    .poll(
      async () => {
        // Taken back after its hold, it runs again.
        gate.get(there.jobId)?.()
        return (await app.store.getJob(there.jobId).catch(() => null))?.status
      },
      { timeout: 60_000 },
    )
    .toBe('succeeded')
  await untilSucceeded(app, [here.jobId, after.jobId])
  expect((await app.store.getJob(there.jobId))?.crashes).toBe(0)
}, 180_000)

it('OPS-15 a worker starts while a shard is down, and takes its jobs when it is back', async () => {
  const early = await open().enqueue({ type: 'late', dedupeKey: keyOf(open(), 1) })
  await servers.killSecond()
  const app = open().handle('late', async () => 'done')
  await app.start()
  const here = await app.enqueue({ type: 'late', dedupeKey: keyOf(app, 0) })
  await untilSucceeded(app, [here.jobId])
  await servers.restartSecond()
  await untilSucceeded(app, [early.jobId])
}, 120_000)

it('OPS-15 a reaper starts while a shard is down, sweeps the others, and that one when it is back', async () => {
  await servers.killSecond()
  const env = { UNSTUCK_SHARDS: servers.urls.join(' '), UNSTUCK_REAPER_INTERVAL_SEC: '1' }
  const reaper = startCommand(['reap', '--json', '--metrics-port', '0'], env)
  const url = await new Promise<string>((resolve) => {
    reaper.onProgress((line) => {
      const found = /http:\S+/.exec(line)
      if (found !== null) resolve(found[0])
    })
  })
  await reaper.said('"table":"jobs:0"')
  const metrics = await (await fetch(url)).text()
  expect(metrics).toContain('table="jobs:0"')
  await servers.restartSecond()
  await reaper.told(/("event":"sweep","table":"jobs:1")/)
  reaper.kill('SIGTERM')
  expect((await reaper.result).exitCode).toBe(0)
}, 120_000)

it('OPS-15 a schedule fires once, from its home', async () => {
  const app = open().handle('tick', async () => 'done')
  for (const nth of [1, 2, 3, 4])
    app.recurring(`tick-${nth}`, '*/1 * * * * *', { type: 'tick' }, { overlap: 'allow' })
  const other = open().handle('tick', async () => 'done')
  await app.start()
  await other.start()
  const enqueued: string[] = []
  for (const each of [app, other])
    each.on('schedule:enqueued', ({ name, dueAt }) => enqueued.push(`${name} ${dueAt.toISOString()}`))
  await expect.poll(() => enqueued.length, { timeout: 30_000 }).toBeGreaterThan(12)
  expect(new Set(enqueued).size).toBe(enqueued.length)
  const { schedules } = await app.store.listSchedules()
  expect(schedules.map(({ name }) => name)).toEqual(['tick-1', 'tick-2', 'tick-3', 'tick-4'])
  for (const { name } of schedules) await app.store.deleteSchedule(name)
}, 90_000)

it('OPS-15 a transaction enqueues in the shard of its key, and nowhere else', async () => {
  const app = open()
  const [first, second] = servers.urls.map((url) => new pg.Client({ connectionString: url }))
  if (first === undefined || second === undefined) throw new Error('two servers')
  await Promise.all([first.connect(), second.connect()])
  try {
    const key = keyOf(app, 1)
    await second.query('begin')
    const { jobId } = await app.shard(key).enqueue({ type: 'tx', dedupeKey: key }, { tx: second })
    expect(shardNumberOf(jobId)).toBe(1)
    expect(await app.store.getJob(jobId)).toBeNull()
    await second.query('commit')
    expect((await app.store.getJob(jobId))?.status).toBe('waiting')
    await first.query('begin')
    await expect(app.shard(key).enqueue({ type: 'tx' }, { tx: first })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('a transaction of shard 0'),
    })
    await first.query('rollback')
    await expect(app.enqueue({ type: 'tx' }, { tx: first })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('q.shard(key)'),
    })
    await expect(app.shard(key).enqueue({ type: 'tx', dedupeKey: keyOf(app, 0) })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  } finally {
    await Promise.all([first.end(), second.end()])
  }
}, 60_000)

it('OPS-15 all jobs of a call are validated before any shard gets its part', async () => {
  const app = open()
  const good = { type: 'all-valid', dedupeKey: keyOf(app, 0) }
  const bad = { type: 'all-valid', dedupeKey: keyOf(app, 1), ttlMs: -1 }
  for (const jobs of [
    [good, bad],
    [bad, good],
  ])
    await expect(app.enqueueMany(jobs)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect((await app.store.listJobs({ type: 'all-valid' })).jobs).toEqual([])
}, 60_000)

it('OPS-15 WORK-9 a wait is registered in its shard, and one for a shard that is down delays no other', async () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const worker = open()
  worker.handle('held', async ({ payload }) => {
    await released
    return Number(payload) * 2
  })
  await worker.start()
  const app = open()
  const wait = async (number: number, payload: number) => {
    const { jobId } = await app.shard(keyOf(app, number)).enqueue({ type: 'held', payload })
    return app.waitFor(jobId, { timeoutMs: 120_000 })
  }
  const waits = Promise.all([wait(0, 1), wait(1, 2)])
  const registered = async () => Promise.all(servers.urls.map(countWaits))
  await expect.poll(registered, { timeout: 30_000 }).toEqual([1, 1])
  release()
  expect(await waits).toEqual([2, 4])
  await servers.killSecond()
  const silent = app.waitFor('018bcfe5-6800-71f7-8001-ebae96331207', { timeoutMs: 120_000 })
  void silent.catch(() => {})
  expect(await wait(0, 21)).toBe(42)
  await servers.restartSecond()
  await expect(silent).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
}, 240_000)

async function countWaits(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query('select from unstuck.waits')).rows.length
  } finally {
    await client.end()
  }
}
