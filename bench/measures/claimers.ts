// The cost of concurrent claims of one queue: a claim skips the rows that others have locked.
import type { WorkerReport, WorkPlan } from '../contenders/contender.ts'
import { type Bench, LeftOut, type Measure, type Values } from '../measure.ts'
import { installNative, withNativeStore } from '../processes/native-store.ts'
import { clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'

const GIVE_UP_MS = 180_000

export const claimers: Measure = {
  id: 'claimers',
  title: 'Concurrent claims',
  method:
    'Worker processes that are started, and poll every 20 ms, before no-op jobs are committed all at once; CPU time from then until nothing is unfinished. The share is that of the worker with the fewest jobs, 1 if all did the same number.',
  columns: () => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'serverUsPerJob', title: 'server CPU µs/job', digits: 1 },
    { key: 'workerUsPerJob', title: 'workers CPU µs/job', digits: 1 },
    { key: 'share', title: 'smallest share', digits: 2 },
  ],
  variants: (bench) =>
    (bench.isQuick ? [1, 8] : [1, 2, 8]).map((count) => ({
      id: `workers-${count}`,
      name: count === 1 ? '1 worker process' : `${count} worker processes`,
      run: () => measure(bench, count),
    })),
}

async function measure({ servers, sizes }: Bench, count: number): Promise<Values> {
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
