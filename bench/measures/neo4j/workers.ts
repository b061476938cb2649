// Workers that claim and complete one job at a time: contention of claims on one queue.
import type { Measure, Values } from '../../measure.ts'
import { percentile } from '../../report/statistics.ts'
import { timed } from '../../timed.ts'
import type { Neo4jBench } from './neo4j-bench.ts'

const LABEL = 'BenchWorkerJob'
const WORKERS = [1, 4, 16]
const WARM_UP_WORKERS = 4
const WARM_UP_JOBS = 300
const BATCH = 500

export const neo4jWorkers: Measure<Neo4jBench> = {
  id: 'workers',
  title: 'Claim and complete',
  method:
    'Jobs of one queue, claimed one at a time and completed, until none is left. Each worker has a store and connections of its own; all are in one process.',
  columns: () => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'claimP50', title: 'claim p50 ms', digits: 1 },
    { key: 'claimP95', title: 'claim p95 ms', digits: 1 },
    { key: 'completeP50', title: 'complete p50 ms', digits: 1 },
  ],
  variants: async (bench) => {
    bench.progress('workers: warming up, a server that was just started is slow')
    await measure(bench, WARM_UP_WORKERS, Math.min(WARM_UP_JOBS, bench.sizes.jobs))
    return WORKERS.map((workers) => ({
      id: `workers-${workers}`,
      name: workers === 1 ? '1 worker' : `${workers} workers`,
      run: () => measure(bench, workers),
    }))
  },
  chart: { kind: 'bars', column: 'jobsPerS' },
}

async function measure(bench: Neo4jBench, workers: number, jobs = bench.sizes.jobs): Promise<Values> {
  await bench.prepare(LABEL)
  const stores = Array.from({ length: workers }, () => bench.openStore(LABEL))
  const [first] = stores
  for (let done = 0; done < jobs; done += BATCH)
    await first?.enqueueJobs(Array.from({ length: Math.min(BATCH, jobs - done) }, () => ({ type: 'noop' })))
  // The first call opens the connection and plans the statements.
  await Promise.all(stores.map((store) => store.claimJobs({ workerId: 'warm', queues: ['none'], limit: 1 })))
  const claims: number[] = []
  const completions: number[] = []
  const work = async (store: (typeof stores)[number], nth: number) => {
    for (;;) {
      const request = { workerId: `worker-${nth}`, queues: ['noop'], limit: 1 }
      const [claimMs, [job]] = await timed(() => store.claimJobs(request))
      if (job === undefined) return
      const [completeMs] = await timed(() => store.completeJobs([job]))
      claims.push(claimMs)
      completions.push(completeMs)
    }
  }
  const [tookMs] = await timed(() => Promise.all(stores.map(work)))
  if (claims.length !== jobs) throw new Error(`${claims.length} of ${jobs} jobs were claimed`)
  return {
    jobsPerS: (jobs / tookMs) * 1_000,
    claimP50: percentile(claims, 0.5),
    claimP95: percentile(claims, 0.95),
    completeP50: percentile(completions, 0.5),
  }
}
