// The cost of concurrent claims of one queue: a claim skips the rows that others have locked.
import type { WorkerReport, WorkPlan } from '../contenders/contender.ts'
import { type Bench, LeftOut, type Measure, type Values } from '../measure.ts'
import {
  installNative,
  type NativeStore,
  openNativeStore,
  withNativeStore,
} from '../processes/native-store.ts'
import { clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'

const GIVE_UP_MS = 180_000
const BATCH = 1_000
const EMPTY_MS = 3

export const claimers: Measure = {
  id: 'claimers',
  title: 'Concurrent claims',
  method: `Connections that claim ${BATCH.toLocaleString('en')} no-op jobs and complete them, one batch after the other, without a worker; and worker processes that are started, and poll every 20 ms, before the jobs are committed all at once. CPU time until nothing is unfinished. The share is that of the claimer with the fewest jobs, 1 if all did the same number.`,
  columns: () => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'serverUsPerJob', title: 'server CPU µs/job', digits: 1 },
    { key: 'workerUsPerJob', title: 'workers CPU µs/job', digits: 1 },
    { key: 'share', title: 'smallest share', digits: 2 },
  ],
  variants: (bench) => [
    ...[1, 8].map((count) => ({
      id: `connections-${count}`,
      name: count === 1 ? '1 connection' : `${count} connections`,
      run: () => measureConnections(bench, count),
    })),
    ...(bench.isQuick ? [1, 8] : [1, 2, 8]).map((count) => ({
      id: `workers-${count}`,
      name: count === 1 ? '1 worker process' : `${count} worker processes`,
      run: () => measureWorkers(bench, count),
    })),
  ],
}

async function measureConnections({ servers, sizes }: Bench, count: number): Promise<Values> {
  const { jobs } = sizes
  const fresh = await servers.fresh('postgres', {
    key: 'claimers filled',
    async prepare(url) {
      await installNative(url)
      await withNativeStore(url, ({ query }) => query(readBenchSql('seed_waiting'), [0, jobs]))
    },
  })
  const natives = Array.from({ length: count }, () => openNativeStore(fresh.url))
  try {
    const claim = ({ store }: NativeStore, queue: string) =>
      store.claimJobs({ workerId: 'bench', queues: [queue], limit: BATCH })
    // Connects, and plans the statements.
    await Promise.all(natives.map((native) => claim(native, 'absent')))
    let left = jobs
    const giveUpAtMs = clockMs() + GIVE_UP_MS
    const work = async (native: NativeStore) => {
      let done = 0
      while (left > 0) {
        const claimed = await claim(native, 'noop')
        if (clockMs() > giveUpAtMs) throw new LeftOut(`${left} of ${jobs} jobs left`)
        // Others have the rest, or the turn.
        if (claimed.length === 0) await pause(EMPTY_MS)
        else await native.store.completeJobs(claimed)
        left -= claimed.length
        done += claimed.length
      }
      return done
    }
    const [startMs, startServerMs] = [clockMs(), servers.cpuMs('postgres')]
    const done = await Promise.all(natives.map(work))
    const serverMs = servers.cpuMs('postgres') - startServerMs
    return {
      jobsPerS: (jobs / (clockMs() - startMs)) * 1_000,
      serverUsPerJob: (serverMs / jobs) * 1_000,
      share: Math.min(...done) / (jobs / count),
    }
  } finally {
    await Promise.all(natives.map((native) => native.close()))
    await fresh.drop()
  }
}

async function measureWorkers({ servers, sizes }: Bench, count: number): Promise<Values> {
  const { jobs } = sizes
  const fresh = await servers.fresh('postgres', { key: 'claimers', prepare: installNative })
  const plan: WorkPlan = { types: ['noop'], pollMs: [20, 20] }
  const workers = await Promise.all(
    Array.from({ length: count }, () => startBenchWorker('unstuck', fresh.url, 'handle', { plan })),
  )
  try {
    return await withNativeStore(fresh.url, async ({ query }) => {
      await query('begin')
      await query(readBenchSql('seed_waiting'), [0, jobs])
      await query('analyze unstuck.jobs')
      const before = await Promise.all(workers.map((worker) => worker.ask()))
      const [startMs, startServerMs] = [clockMs(), servers.cpuMs('postgres')]
      await query('commit')
      const giveUpAtMs = startMs + GIVE_UP_MS
      const handled = () => workers.reduce((sum, worker) => sum + worker.report().handled, 0)
      while (handled() < jobs && clockMs() < giveUpAtMs) await pause(2)
      while ((await countUnfinished(query)) > 0 && clockMs() < giveUpAtMs) await pause(2)
      const [endMs, endServerMs] = [clockMs(), servers.cpuMs('postgres')]
      const reports = await Promise.all(workers.map((worker) => worker.ask()))
      if (endMs >= giveUpAtMs) throw new LeftOut(`${handled()} of ${jobs} jobs done`)
      const smallest = Math.min(...reports.map((report) => report.handled))
      return {
        jobsPerS: (jobs / (endMs - startMs)) * 1_000,
        serverUsPerJob: ((endServerMs - startServerMs) / jobs) * 1_000,
        workerUsPerJob: ((sumCpuMs(reports) - sumCpuMs(before)) / jobs) * 1_000,
        share: smallest / (jobs / count),
      }
    })
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
    await fresh.drop()
  }
}

const sumCpuMs = (reports: WorkerReport[]) => reports.reduce((sum, { processCpuMs }) => sum + processCpuMs, 0)

async function countUnfinished(query: <Row>(text: string) => Promise<Row[]>): Promise<number> {
  const [row] = await query<{ count: number }>(readBenchSql('unfinished_count'))
  return row?.count ?? 0
}
