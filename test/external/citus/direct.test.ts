// Workers that connect to the nodes of their schemas, one schema on each node, and follow the one that moves.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { unstuck } from '../../../dist/index.js'
import { openDeployment } from '../../../src/compose/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { createDistributedSchema, type DistributedSchema } from './distributed-schema.ts'

const schemas = ['direct_00', 'direct_01']
/** Heartbeats have one only while there are leases. */
const SESSIONS = ['unstuck listen', 'unstuck presence']
let databases: DistributedSchema[]
let stores: JobStore[]
let env: Record<string, string>
let workers: WorkerProcess[] = []

beforeAll(async () => {
  databases = []
  for (const [shard, schema] of schemas.entries())
    databases.push(await createDistributedSchema(schema, shard))
  const [first, second] = databases
  if ((await first?.node()) === (await second?.node())) await second?.move()
  const url = databases[0]?.url ?? ''
  env = { UNSTUCK_SHARDS: schemas.map((schema) => `${url}#${schema}`).join(' '), UNSTUCK_SHARD_DIRECT: 'on' }
  stores = databases.map(({ pool }, shard) => {
    const schema = schemas[shard] ?? ''
    return createPostgresStore({ client: pool, table: nativeProfile(schema).tables[0], schema })
  })
  for (const store of stores)
    await store.writePolicy({
      ...nativePolicy,
      events: 'all',
      defaultLeaseMs: 3_600_000,
      heartbeatMs: 1_000,
      sweepIntervalMs: 1_000,
      reapBackoffStepsMs: [0],
    })
}, 300_000)
afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
  workers = []
})
afterAll(() => Promise.all(databases.map((database) => database.drop())))

function work(concurrency = 8): WorkerProcess {
  const worker = startWorkerProcess(databases[0]?.url ?? '', { concurrency }, { env })
  workers.push(worker)
  return worker
}

/** The workers' sessions on a node, by their names. */
async function sessionsOn(port: number, names = SESSIONS): Promise<Record<string, number>> {
  const url = new URL(databases[0]?.url ?? '')
  url.port = String(port)
  const client = new pg.Client({ connectionString: url.href, application_name: 'test' })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; count: number }>(
      `select application_name as name, count(*)::int as count from pg_stat_activity
        where application_name = any ($1) group by 1`,
      [names],
    )
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
  } finally {
    await client.end()
  }
}

const all = (count: number) => Object.fromEntries(SESSIONS.map((name) => [name, count]))
const coordinator = () => Number(new URL(databases[0]?.url ?? '').port)
const enqueue = async (count: number, ms: number) => {
  const jobs = await Promise.all(
    stores.map((store) =>
      store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'slow', payload: { ms } }))),
    ),
  )
  return jobs.flat().map(({ jobId }) => jobId)
}
const completions = () =>
  workers.flatMap(({ told }) => told.filter(({ kind, end }) => kind === 'ended' && end === 'completed'))

it('OPS-15 direct: sessions are on the node of their schema, and follow it when it moves under load', async () => {
  const [from, to] = await Promise.all(databases.map((database) => database.node()))
  if (from === undefined || to === undefined) throw new Error('two nodes')
  work()
  const ids = await enqueue(20, 50)
  await expect.poll(() => completions().length, { timeout: 60_000 }).toBeGreaterThan(0)
  await expect.poll(() => sessionsOn(from), { timeout: 30_000 }).toEqual(all(1))
  await expect.poll(() => sessionsOn(to), { timeout: 30_000 }).toEqual(all(1))
  expect(await sessionsOn(coordinator())).toEqual({})

  const move = { isOver: false }
  const moving = databases[0]?.move().finally(() => {
    move.isOver = true
  })
  do ids.push(...(await enqueue(20, 50)))
  while (!move.isOver)
  await moving
  ids.push(...(await enqueue(20, 50)))
  expect(await databases[0]?.node()).toBe(to)
  await expect.poll(() => sessionsOn(to), { timeout: 60_000 }).toEqual(all(2))
  await expect.poll(() => sessionsOn(from), { timeout: 60_000 }).toEqual({})
  await expect.poll(() => completions().length, { timeout: 120_000 }).toBe(ids.length)
  const effects = workers.flatMap(({ told }) => told.filter(({ kind }) => kind === 'effect'))
  expect(effects).toHaveLength(ids.length)
  for (const [shard, schema] of schemas.entries()) {
    const { rows } = (await databases[shard]?.pool.query(
      `select count(*)::int as jobs, count(*) filter (where status = 'succeeded' and fence = 1)::int as once,
              (select count(*)::int from ${schema}.events where type like 'reaper:%') as reaped
         from ${schema}.jobs`,
    )) ?? { rows: [] }
    expect(rows).toEqual([{ jobs: ids.length / 2, once: ids.length / 2, reaped: 0 }])
  }
}, 300_000)

it('OPS-15 LEASE-10 direct: presence looks where the beats are, before and after a move', async () => {
  for (const isMoved of [false, true]) {
    const [job] = (await stores[0]?.enqueueJobs([{ type: 'slow', payload: { ms: 3_600_000 } }])) ?? []
    const lost = work(1)
    await lost.until(({ kind, jobId }) => kind === 'started' && jobId === job?.jobId)
    const kept = work(2)
    await kept.until(({ kind }) => kind === 'ready')
    if (isMoved) {
      await databases[0]?.move()
      const to = (await databases[0]?.node()) ?? 0
      const atNode = () => sessionsOn(to, ['unstuck presence', 'unstuck heartbeat'])
      const isThere = { 'unstuck presence': 2, 'unstuck heartbeat': 1 }
      await expect.poll(atNode, { timeout: 60_000 }).toEqual(isThere)
    }
    lost.child.kill('SIGKILL')
    await kept.until(({ kind, jobId }) => kind === 'started' && jobId === job?.jobId)
    expect(await stores[0]?.getJob(job?.jobId ?? '')).toMatchObject({
      status: 'running',
      fence: 2,
      crashes: 1,
    })
    await stores[0]?.cancelJobs([job?.jobId ?? ''])
    kept.child.kill('SIGTERM')
    await kept.ended
  }
}, 300_000)

it('OPS-15 direct: the live view shows the events of a schema that moves there and back', async () => {
  const deployment = openDeployment(loadConfig({ env }))
  const [shard] = deployment.tables[0].store.shards?.all ?? []
  const after = (await deployment.access.readClock()).lastEventId
  /** Enqueues a job. Citus has the number of the node in the id of its event. */
  const enqueueOn = async () => {
    const [job] = (await shard?.store.enqueueJobs([{ type: 'never' }])) ?? []
    const { rows } = (await databases[0]?.pool.query<{ node: string }>(
      `select (id >> 48)::text as node from ${schemas[0]}.events where job_id = $1`,
      [job?.jobId],
    )) ?? { rows: [] }
    return { jobId: job?.jobId, node: rows[0]?.node }
  }
  const shown = async () => (await deployment.access.listNewEvents(after, 1_000)).map(({ jobId }) => jobId)
  let { node } = await enqueueOn()
  for (const way of ['there', 'back']) {
    await databases[0]?.move()
    const left = node
    let jobId: string | undefined
    const followed = async () => {
      const enqueued = await enqueueOn()
      jobId = enqueued.jobId
      node = enqueued.node
      return node
    }
    await expect.poll(followed, { timeout: 60_000, message: way }).not.toBe(left)
    await expect.poll(shown, { timeout: 30_000, message: way }).toContain(jobId)
  }
  await deployment.close()
}, 300_000)

it('OPS-15 direct: a schema that Citus does not distribute is refused with the reason', async () => {
  const url = databases[0]?.url ?? ''
  const app = unstuck({
    shards: [
      { url, schema: 'nowhere_a' },
      { url, schema: 'nowhere_b' },
    ],
    direct: true,
  })
  await expect(app.enqueue({ type: 'slow' })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('UNSTUCK_SHARD_DIRECT: Citus does not distribute nowhere_'),
  })
  await app.stop()
})
