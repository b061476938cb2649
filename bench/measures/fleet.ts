// The cost of idle workers, and how many of them a new job wakes.
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
  isOnce: true,
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
      await pause(Math.min(SETTLE_MS, 3 * idleMs))
      const before = {
        server: bench.servers.cpuMs('postgres'),
        transactions: await count(),
        ...(await started.report()),
      }
      const startMs = clockMs()
      await pause(idleMs)
      const seconds = (clockMs() - startMs) / 1_000
      const after = {
        server: bench.servers.cpuMs('postgres'),
        transactions: await count(),
        ...(await started.report()),
      }
      const [held] = await query<{ count: number }>(readBenchSql('connection_count'))
      return {
        serverCpu: (after.server - before.server) / seconds,
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
