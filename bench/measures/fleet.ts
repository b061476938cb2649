// The cost of idle workers, and how many of them a new job wakes.
import { readdirSync, readFileSync } from 'node:fs'
import type { Bench, Measure, Values } from '../measure.ts'
import { type Fleet, startFleet } from '../processes/fleet.ts'
import { installNative, withNativeStore } from '../processes/native-store.ts'
import { clockMs, pause } from '../processes/processes.ts'
import { percentile } from '../report/statistics.ts'
import { readBenchSql } from '../sql-file.mjs'

const HOUR = 3_600_000
/** Idle connections are closed after ten seconds, and every worker has had its turn after one. */
const SETTLE_MS = 15_000
const TURNS_MS = 1_300
const HANDLED_MS = 30_000

export const fleet: Measure = {
  id: 'fleet',
  title: 'A fleet of workers',
  method:
    'Idle workers, 50 in a process: CPU time of the server, transactions a second and connections. Single jobs, one after the other, for idle workers that never poll: claims and looks for each, and the time from the call that enqueues to the start of the handler.',
  columns: () => [
    { key: 'serverCpu', title: 'server CPU ms/s', digits: 2 },
    { key: 'workerCpu', title: 'workers CPU ms/s', digits: 1 },
    { key: 'perWorker', title: 'transactions/s and worker', digits: 3 },
    { key: 'connections', title: 'connections/worker', digits: 2 },
    { key: 'claimsPerJob', title: 'claims/job', digits: 2 },
    { key: 'looksPerJob', title: 'looks/job', digits: 2 },
    { key: 'p50Ms', title: 'p50 ms', digits: 2 },
    { key: 'p99Ms', title: 'p99 ms', digits: 2 },
  ],
  variants: (bench) =>
    bench.sizes.fleet.workers.flatMap((workers) => [
      { id: `idle-${workers}`, name: `${workers} idle workers`, run: () => measureIdle(bench, workers) },
      {
        id: `hint-${workers}`,
        name: `${workers} workers, single jobs`,
        run: () => measureHints(bench, workers),
      },
    ]),
}

async function measureIdle(bench: Bench, workers: number): Promise<Values> {
  const { idleMs } = bench.sizes.fleet
  return withFleet(bench, { workers }, async (started, url) =>
    withNativeStore(url, async ({ query }) => {
      const count = async () =>
        Number((await query<{ count: string }>(readBenchSql('transaction_count')))[0]?.count)
      const [row] = await query<{ pid: number }>('select pg_backend_pid() as pid')
      const postmaster = parentOf(String(row?.pid))
      await pause(Math.min(SETTLE_MS, 3 * idleMs))
      const before = {
        server: serverCpuMs(postmaster),
        transactions: await count(),
        ...(await started.report()),
      }
      const startMs = clockMs()
      await pause(idleMs)
      const seconds = (clockMs() - startMs) / 1_000
      const after = {
        server: serverCpuMs(postmaster),
        transactions: await count(),
        ...(await started.report()),
      }
      const [held] = await query<{ count: number }>(readBenchSql('connection_count'))
      return {
        serverCpu: cpuBetween(before.server, after.server) / seconds,
        workerCpu: (after.cpuMs - before.cpuMs) / seconds,
        perWorker: (after.transactions - before.transactions) / seconds / workers,
        connections: (held?.count ?? 0) / workers,
      }
    }),
  )
}

async function measureHints(bench: Bench, workers: number): Promise<Values> {
  const { jobs } = bench.sizes.fleet
  return withFleet(bench, { workers, pollMs: [HOUR, HOUR] }, async (started, url) =>
    withNativeStore(url, async ({ store }) => {
      const add = () => store.enqueueJobs([{ type: 'noop', payload: { sentAtMs: clockMs() } }])
      // Opens connections and compiles code.
      await add()
      await pause(TURNS_MS)
      const before = await started.report()
      const latenciesMs: number[] = []
      for (let job = 1; job <= jobs; job++) {
        await add()
        const giveUpAtMs = clockMs() + HANDLED_MS
        await pause(TURNS_MS)
        while (latenciesMs.length < job) {
          latenciesMs.push(...(await started.report()).latenciesMs)
          if (clockMs() > giveUpAtMs) throw new Error(`${latenciesMs.length} of ${job} jobs began`)
        }
      }
      const after = await started.report()
      return {
        claimsPerJob: (after.claims - before.claims) / jobs,
        looksPerJob: (after.looks - before.looks) / jobs,
        p50Ms: percentile(latenciesMs, 0.5),
        p99Ms: percentile(latenciesMs, 0.99),
      }
    }),
  )
}

async function withFleet(
  { servers }: Bench,
  plan: Parameters<typeof startFleet>[1],
  work: (fleet: Fleet, url: string) => Promise<Values>,
): Promise<Values> {
  const fresh = await servers.fresh('postgres', { key: 'fleet', prepare: installNative })
  try {
    const started = await startFleet(fresh.url, plan)
    try {
      return await work(started, fresh.url)
    } finally {
      await started.stop()
    }
  } finally {
    await fresh.drop()
  }
}

/** CPU time of each process of the server. */
function serverCpuMs(postmaster: number): Map<string, number> {
  const cpuMs = new Map<string, number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      if (parentOf(entry) !== postmaster) continue
      cpuMs.set(entry, Number(readFileSync(`/proc/${entry}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    } catch {
      // It has just ended.
    }
  }
  return cpuMs
}

/** Without those that ended meanwhile. */
function cpuBetween(before: Map<string, number>, after: Map<string, number>): number {
  let sumMs = 0
  for (const [pid, cpuMs] of after) sumMs += cpuMs - (before.get(pid) ?? 0)
  return sumMs
}

function parentOf(pid: string): number {
  const [, parent] = /\) \S+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  return Number(parent)
}
