// A bulk change over three shards, of which the second is killed midway: each has one outcome, and the rest can be changed later.
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { shardTables } from '../../src/commands/shard-tables.ts'
import { type Deployment, openDeployment } from '../../src/compose/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { OperationRunner } from '../../src/runtime/operations/operation-runner.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { elapse } from '../support/postgres-harness.ts'
import { type ShardServers, startShardServers } from '../support/shard-servers.ts'
import { runInProcess } from './support/in-process.ts'
import { startCommand } from './support/run-command.ts'

const JOBS = 12
let servers: ShardServers
let env: { UNSTUCK_SHARDS: string }
let deployment: Deployment
let stores: JobStore[]

beforeAll(async () => {
  servers = await startShardServers()
  const [first, second] = servers.urls
  const profile = nativeProfile('unstuck_c')
  await migrateUp({ databaseUrl: first, schema: 'unstuck_c', profile, shard: 2 })
  env = { UNSTUCK_SHARDS: `${first} ${second} ${first}#unstuck_c` }
  deployment = openDeployment(loadConfig({ env }))
  stores = shardTables(deployment.tables).map(({ store }) => store)
  for (const [number, store] of stores.entries()) await plantDead(store, number === 1 ? JOBS : 1)
}, 120_000)

afterAll(async () => {
  await deployment.close()
  await servers.close()
})

async function plantDead(store: JobStore, count: number): Promise<void> {
  await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
  const claimed = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: count })
  await store.failJobs(claimed.map((lease) => ({ ...lease, isRetryable: false })))
}

const countOf = async (store: JobStore | undefined, status: 'dead' | 'waiting') =>
  (await store?.listJobs({ status }, { limit: 100 }))?.jobs.length

interface Report {
  table: string
  operationId: string
  total: number
  changed: number
  stopped: string | null
}
const readReports = (stdout: string) => (JSON.parse(stdout) as { tables: Report[] }).tables
const redrive = (rate: number) => {
  const pace = ['--canary', '0', '--rate', `${rate}/s`]
  return ['dead', 'redrive', '--all', ...pace, '--yes', '--json', '--reason', 'test']
}

it('OPS-15 OPS-9 a shard that dies midway has an outcome of its own, the others theirs, and the rest follows', async () => {
  const command = startCommand(redrive(2), env)
  const killed = new Promise<void>((resolve, reject) => {
    let isKilled = false
    command.onProgress((line) => {
      // At two a second the operation is far from its end.
      if (isKilled || !/^jobs:1: [1-9]/.test(line)) return
      isKilled = true
      servers.killSecond().then(resolve, reject)
    })
  })
  await killed
  const { exitCode, stdout } = await command.result
  expect(exitCode).toBe(3)
  const reports = readReports(stdout)
  expect(reports.map(({ table, total, stopped }) => ({ table, total, stopped }))).toEqual([
    { table: 'jobs:0', total: 1, stopped: null },
    { table: 'jobs:1', total: JOBS, stopped: 'shard-silent' },
    { table: 'jobs:2', total: 1, stopped: null },
  ])
  const confirmed = reports[1]?.changed ?? 0
  expect(confirmed).toBeGreaterThan(0)
  expect(confirmed).toBeLessThan(JOBS)
  expect([await countOf(stores[0], 'waiting'), await countOf(stores[2], 'waiting')]).toEqual([1, 1])

  // While it is down, nothing is begun, and the shard is named.
  const refused = await runInProcess(redrive(100), env)
  expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('jobs:1: ') })

  await servers.restartSecond()
  await expect.poll(() => countOf(stores[1], 'dead').catch(() => 0), { timeout: 30_000 }).toBeGreaterThan(0)
  const dead = await countOf(stores[1], 'dead')
  expect(dead).toBeLessThanOrEqual(JOBS - confirmed)
  const again = await runInProcess(redrive(1_000), env)
  expect({ exitCode: again.exitCode, stderr: again.stderr }).toMatchObject({ exitCode: 0 })
  expect(readReports(again.stdout)).toMatchObject([{ table: 'jobs:1', total: dead, changed: dead }])
  expect(await countOf(stores[1], 'waiting')).toBe(JOBS)

  // A server that finds the first operation when its lease is over has nothing left to change.
  const pool = new pg.Pool({ connectionString: servers.urls[1] })
  await elapse(pool, nativeProfile('unstuck').tables[0], 'unstuck', 60_000)
  await pool.end()
  const runner = new OperationRunner({ tables: [{ store: stores[1] as JobStore }], pollMs: 50 })
  runner.wake()
  const id = reports[1]?.operationId ?? ''
  await expect
    .poll(() => stores[1]?.readOperation(id), { timeout: 30_000 })
    .toMatchObject({ state: 'done', total: JOBS })
  await runner.stop()
  expect(await countOf(stores[1], 'waiting')).toBe(JOBS)
}, 180_000)
