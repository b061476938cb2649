import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, type Measure, type Values } from '../measure.ts'
import { addJobs, clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { percentile } from '../report/statistics.ts'

const RATE_PER_S = 50
/** Jobs that start later count as timed out. */
const LAST_WAIT_MS = 5_000

export const latency: Measure = {
  id: 'latency',
  title: `Latency at ${RATE_PER_S} jobs a second`,
  method:
    'From the call that enqueues to the start of the handler, in two processes; single calls at an even pace, one idle worker.',
  columns: () => [
    { key: 'p50Ms', title: 'p50 ms', digits: 2 },
    { key: 'p95Ms', title: 'p95 ms', digits: 2 },
    { key: 'p99Ms', title: 'p99 ms', digits: 2 },
  ],
  variants: (bench) =>
    contenderVariants(bench, contenders(bench), (id, contender) => measure(bench, id, contender)),
  chart: { kind: 'bars', column: 'p50Ms' },
}

function contenders({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = ['unstuck', 'graphile-worker', 'pg-boss-notify']
  return isQuick ? quick : [...quick, 'river', 'graphile-worker-fast', 'bullmq-redis', 'bullmq-postgres']
}

async function measure(
  { servers, sizes }: Bench,
  id: ContenderId,
  { needs, install }: Contender,
): Promise<Values> {
  const fresh = await servers.fresh(needs, { key: id, prepare: install })
  try {
    const worker = await startBenchWorker(id, fresh.url)
    const count = RATE_PER_S * sizes.latencyS
    // Warm up connections and code for a second.
    await addJobs(id, fresh.url, [
      { mode: 'paced', width: RATE_PER_S, count: RATE_PER_S },
      { mode: 'paced', width: RATE_PER_S, count },
    ])
    const giveUpAtMs = clockMs() + LAST_WAIT_MS
    while (worker.report().latenciesMs.length < count + RATE_PER_S && clockMs() < giveUpAtMs) await pause(5)
    const latenciesMs = worker.report().latenciesMs.slice(RATE_PER_S)
    await worker.stop()
    if (latenciesMs.length < count) throw new Error(`${latenciesMs.length} of ${count} jobs began`)
    return {
      p50Ms: percentile(latenciesMs, 0.5),
      p95Ms: percentile(latenciesMs, 0.95),
      p99Ms: percentile(latenciesMs, 0.99),
    }
  } finally {
    await fresh.drop()
  }
}
