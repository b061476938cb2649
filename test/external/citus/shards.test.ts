// Shards as schemas of one cluster: installed by their number, moved while workers run, and a node that is killed.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { shardNumberOf } from '../../../src/store/shards.ts'
import { runInProcess } from '../../cli/support/in-process.ts'
import { type Cluster, startCluster } from './cluster.ts'

const COUNT = 16
const schemas = Array.from({ length: COUNT }, (_, number) => `unstuck_${String(number).padStart(2, '0')}`)
let cluster: Cluster
let pool: pg.Pool
let apps: Unstuck[] = []

// Its own: a killed node does not come back.
beforeAll(async () => {
  cluster = await startCluster(process.env['UNSTUCK_CITUS'] ?? '')
  pool = new pg.Pool({ connectionString: cluster.url, max: 4 })
  pool.on('error', () => {})
}, 300_000)
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
  apps = []
})
afterAll(async () => {
  await pool.end()
  await cluster.stop().catch(() => {})
})

function open(): Unstuck {
  const app = unstuck({
    shards: schemas.map((schema) => ({ url: cluster.url, schema })),
    pollMs: [50, 100],
    graceMs: 2_000,
    logger: false,
  })
  apps.push(app)
  return app
}

/** Port of the node of each schema. */
async function nodes(): Promise<number[]> {
  const { rows } = await pool.query<{ schema: string; port: number }>(
    `select split_part(table_name::text, '.', 1) as schema, nodeport as port from citus_shards
      where table_name::text like 'unstuck_%.jobs' order by 1`,
  )
  return rows.map(({ port }) => port)
}

async function startWorkers(count: number): Promise<Map<string, number>> {
  const runs = new Map<string, number>()
  for (let nth = 0; nth < count; nth++) {
    const app = open()
    app.handle('slow', async ({ jobId }) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      runs.set(jobId, (runs.get(jobId) ?? 0) + 1)
    })
    await app.start()
  }
  return runs
}

const enqueue = async (app: Unstuck, count: number) => {
  const ids: string[] = []
  for (let nth = 0; nth < count; nth++) ids.push((await app.enqueue({ type: 'slow' })).jobId)
  return ids
}

describe('shards of a Citus cluster', () => {
  it('OPS-15 migrate up --shards installs and distributes a schema for each', {
    timeout: 1_800_000,
  }, async () => {
    const args = ['migrate', 'up', '--shards', String(COUNT), '--distribute', '--json']
    const up = await runInProcess(args, { DATABASE_URL: cluster.url })
    expect(up.stderr).not.toContain('error')
    expect(up.exitCode).toBe(0)
    const { rows } = await pool.query<{ schema_name: string }>(
      'select schema_name::text from citus_schemas order by 1',
    )
    expect(rows.map(({ schema_name: name }) => name)).toEqual(schemas)
    expect(new Set(await nodes()).size).toBe(2)
    const again = await runInProcess(args, { DATABASE_URL: cluster.url })
    expect(again.exitCode).toBe(0)
  })

  it('OPS-15 a schema moves under load: no job is lost, run twice or reaped', {
    timeout: 600_000,
  }, async () => {
    const app = open()
    await app.store.writePolicy({ ...nativePolicy, events: 'all' })
    const runs = await startWorkers(2)
    const ids = await enqueue(app, 40)
    await expect.poll(() => runs.size, { timeout: 60_000 }).toBeGreaterThan(0)
    const [from] = await nodes()
    const { rows } = await pool.query<{ nodename: string; nodeport: number }>(
      'select nodename, nodeport from pg_dist_node where shouldhaveshards and nodeport <> $1',
      [from],
    )
    const move = { isOver: false }
    const moving = pool
      .query("select citus_schema_move('unstuck_00', $1::text, $2::int)", [
        rows[0]?.nodename,
        rows[0]?.nodeport,
      ])
      .finally(() => {
        move.isOver = true
      })
    do ids.push(...(await enqueue(app, 20)))
    while (!move.isOver)
    await moving
    expect((await nodes())[0]).not.toBe(from)
    await expect.poll(() => runs.size, { timeout: 300_000 }).toBe(ids.length)
    expect([...runs.values()].every((count) => count === 1)).toBe(true)
    for (const schema of schemas) {
      const reaped = await pool.query(`select type from ${schema}.events where type like 'reaper:%'`)
      expect(reaped.rows).toEqual([])
      const counted = async () =>
        (await pool.query(`select count(*)::int as left from ${schema}.jobs where status <> 'succeeded'`))
          .rows
      await expect.poll(counted, { timeout: 60_000 }).toEqual([{ left: 0 }])
    }
  })

  it('OPS-15 a node is killed: the shards of the other node go on', { timeout: 600_000 }, async () => {
    const ports = await nodes()
    const dead = ports[1] ?? 0
    const app = open()
    const runs = await startWorkers(1)
    await killNode(dead)
    const ids: string[] = []
    await expect
      .poll(
        async () => {
          const { jobId } = await app.enqueue({ type: 'slow' }).catch(() => ({ jobId: '' }))
          if (jobId !== '') ids.push(jobId)
          return ids.filter((id) => runs.has(id)).length
        },
        { timeout: 300_000 },
      )
      .toBeGreaterThan(20)
    const alive = ports.flatMap((port, number) => (port === dead ? [] : [number]))
    expect(ids.map(shardNumberOf).every((number) => alive.includes(number))).toBe(true)
    expect((await app.store.readHealth()).silentShards).toHaveLength(COUNT - alive.length)
    for (const { number, store } of app.store.shards?.all ?? [])
      if (alive.includes(number)) expect(await store.sweepJobs()).toMatchObject({ next: null })
  })
})

/** Ends the server at once, as a power cut would. */
async function killNode(port: number): Promise<void> {
  const url = new URL(cluster.url)
  url.port = String(port)
  const client = new pg.Client({ connectionString: url.href })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const stat = readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8')
  const postmaster = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  process.kill(postmaster, 'SIGQUIT')
}
