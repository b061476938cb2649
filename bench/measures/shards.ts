// CPU time of each server with the same jobs on one, two and four of them, and what the router costs where there is one.
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresServer, startPostgres } from '@unstuck/embedded'
import pg from 'pg'
import { nativeProfile, type Unstuck, type UnstuckOptions, unstuck } from '../../dist/index.js'
import { migrateUp } from '../../dist/store/postgres/index.js'
import { queryOnce } from '../contenders/query-once.mjs'
import { type Bench, LeftOut, type Measure, type Values } from '../measure.ts'
import { parentOf, serverCpuMs } from '../processes/cpu-time.ts'
import { clockMs } from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'

const GIVE_UP_MS = 180_000
const BATCH = 1_000
/** All of them on one machine. */
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
}

export const shards: Measure = {
  id: 'shards',
  title: 'Shards',
  method: `No-op jobs, enqueued in batches of ${BATCH.toLocaleString('en')} into a paused queue and then run by one process over all servers, which share this machine; the process has connected before. CPU time of a server is that of all its processes, by /proc, and is given for each job of the installation: with two shards a server has half of the jobs. \`One database\` has no router.`,
  columns: () => [
    { key: 'enqueueUs', title: 'enqueue: CPU of one server, µs/job', digits: 1 },
    { key: 'processUs', title: 'process: CPU of one server, µs/job', digits: 1 },
    { key: 'allUs', title: 'both, all servers together, µs/job', digits: 1 },
    { key: 'busiest', title: 'share of the busiest server', digits: 2 },
    { key: 'workerUs', title: 'worker CPU µs/job', digits: 1 },
  ],
  variants: (bench) =>
    [0, 1, 2, 4].map((count) => ({
      id: count === 0 ? 'database' : `shards-${count}`,
      name: count === 0 ? 'One database' : count === 1 ? '1 shard' : `${count} shards`,
      run: () => measureShards(bench, count),
    })),
}

interface Node {
  server: PostgresServer
  pid: number
}

/** `count` 0: one database without a router. */
async function measureShards({ sizes }: Bench, count: number): Promise<Values> {
  const nodes: Node[] = []
  try {
    for (let number = 0; number < Math.max(1, count); number++) nodes.push(await startNode(number))
    const urls = nodes.map(({ server }) => server.url)
    const place: UnstuckOptions =
      count === 0 ? { databaseUrl: urls[0] ?? '' } : { shards: urls.map((url) => ({ url })) }
    const { jobs } = sizes
    const app = unstuck({ ...place, logger: false })
    app.handle('noop', async () => {})
    try {
      // Connected, with its services, before anything is measured.
      await app.start()
      await app.store.pauseQueue('noop', { actor: 'bench' })
      const enqueueMs = await metered(nodes, () => enqueue(app, jobs))
      const beforeMs = cpuMs()
      const processMs = await metered(nodes, async () => {
        await app.store.resumeQueue('noop', { actor: 'bench' })
        await untilDone(urls)
      })
      return valuesOf({ jobs, enqueueMs, processMs, workerMs: cpuMs() - beforeMs })
    } finally {
      await app.stop()
    }
  } finally {
    await Promise.all(nodes.map(({ server }) => server.stop()))
  }
}

/** Times in CPU milliseconds, of each server. */
function valuesOf({
  jobs,
  enqueueMs,
  processMs,
  workerMs,
}: {
  jobs: number
  enqueueMs: number[]
  processMs: number[]
  workerMs: number
}): Values {
  const perJob = (ms: number) => (ms / jobs) * 1_000
  const sums = enqueueMs.map((ms, nth) => ms + (processMs[nth] ?? 0))
  return {
    enqueueUs: perJob(sum(enqueueMs) / sums.length),
    processUs: perJob(sum(processMs) / sums.length),
    allUs: perJob(sum(sums)),
    busiest: Math.max(...sums) / sum(sums),
    workerUs: perJob(workerMs),
  }
}

async function startNode(number: number): Promise<Node> {
  const server = await startPostgres({ persistent: false, settings })
  await migrateUp({
    databaseUrl: server.url,
    schema: 'unstuck',
    profile: nativeProfile('unstuck'),
    shard: number,
  })
  return { server, pid: await postmasterOf(server.url) }
}

async function postmasterOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return parentOf(rows[0]?.pid ?? 0)
  } finally {
    await client.end()
  }
}

/** CPU time of each server during the work. */
async function metered(nodes: Node[], work: () => Promise<void>): Promise<number[]> {
  const before = nodes.map(({ pid }) => serverCpuMs(pid))
  await work()
  return nodes.map(({ pid }, nth) => serverCpuMs(pid) - (before[nth] ?? 0))
}

async function enqueue(app: Unstuck, jobs: number): Promise<void> {
  for (let from = 0; from < jobs; from += BATCH)
    await app.enqueueMany(
      Array.from({ length: Math.min(BATCH, jobs - from) }, (_, nth) => ({
        type: 'noop',
        payload: { i: from + nth },
      })),
    )
}

async function untilDone(urls: string[]): Promise<void> {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  while ((await countUnfinished(urls)) > 0) {
    if (clockMs() > giveUpAtMs) throw new LeftOut(`not done in ${GIVE_UP_MS / 1_000} s`)
    await sleep(250)
  }
}

async function countUnfinished(urls: string[]): Promise<number> {
  return sum(await Promise.all(urls.map((url) => queryOnce(url, readBenchSql('unfinished_count')))))
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
