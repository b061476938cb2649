// Churn beside an open transaction: dead rows and index entries cannot be removed.
import pg from 'pg'
import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, type Measure, type Values } from '../measure.ts'
import { clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'
import { filled } from './process.ts'

const PARTS = 10

export const heldXmin: Measure = {
  id: 'held-xmin',
  title: 'A transaction left open',
  method:
    'One worker process, with a REPEATABLE READ transaction open in the same database from before the first job to the end. First and last are tenths of the jobs; a run that takes too long is cut off, and its last tenth is the last of what it did.',
  columns: ({ sizes }) => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'first', title: `first ${(sizes.heldXmin.jobs / PARTS).toLocaleString('en')}` },
    { key: 'last', title: `last ${(sizes.heldXmin.jobs / PARTS).toLocaleString('en')}` },
    { key: 'share', title: 'last / first', digits: 2 },
    { key: 'done', title: 'jobs done' },
  ],
  variants: (bench) =>
    contenderVariants(bench, contenders(bench), (id, contender) => measure(bench, id, contender)),
  chart: {
    kind: 'lines',
    columns: Array.from({ length: PARTS }, (_, part) => `part${part + 1}`),
    axis: 'tenths of the jobs, jobs/s in each',
  },
}

function contenders({ isQuick }: Bench): ContenderId[] {
  return isQuick
    ? ['unstuck', 'graphile-worker-fast', 'pg-boss']
    : ['unstuck', 'raw', 'graphile-worker-fast', 'pg-boss']
}

type Sample = [atMs: number, handled: number]

async function measure(bench: Bench, id: ContenderId, contender: Contender): Promise<Values> {
  const { jobs, capMs } = bench.sizes.heldXmin
  const fresh = await filled(bench, id, contender, jobs)
  const holder = new pg.Client({ connectionString: fresh.url })
  holder.on('error', () => {})
  try {
    await holder.connect()
    await holder.query('begin isolation level repeatable read')
    await holder.query(readBenchSql('table_count'))
    const worker = await startBenchWorker(id, fresh.url)
    const samples: Sample[] = []
    let stopAtMs = Number.POSITIVE_INFINITY
    for (;;) {
      const { handled, firstAtMs } = worker.report()
      if (firstAtMs !== null && samples.length === 0) {
        samples.push([firstAtMs, 0])
        stopAtMs = firstAtMs + capMs
      }
      if (handled > (samples.at(-1)?.[1] ?? 0)) samples.push([clockMs(), handled])
      if (handled >= jobs || clockMs() > stopAtMs) break
      await pause(5)
    }
    await worker.stop()
    return ratesOf(samples, jobs / PARTS)
  } finally {
    await holder.end()
    await fresh.drop()
  }
}

function ratesOf(samples: Sample[], part: number): Values {
  const [startedAtMs] = samples[0] ?? [0, 0]
  const [endedAtMs, done] = samples.at(-1) ?? [0, 0]
  const rate = (from: number, to: number) =>
    ((to - from) / (timeOf(samples, to) - timeOf(samples, from))) * 1_000
  const first = rate(0, Math.min(part, done))
  const last = rate(Math.max(0, done - part), done)
  const parts: Values = {}
  for (let end = part; end <= done; end += part) parts[`part${end / part}`] = rate(end - part, end)
  const jobsPerS = (done / (endedAtMs - startedAtMs)) * 1_000
  return { jobsPerS, first, last, share: last / first, done, ...parts }
}

/** When this many were done, interpolated between the two nearest reports. */
function timeOf(samples: Sample[], handled: number): number {
  const index = Math.max(
    1,
    samples.findIndex(([, count]) => count >= handled),
  )
  const [beforeMs, before] = samples[index - 1] ?? [0, 0]
  const [afterMs, after] = samples[index] ?? [0, 0]
  return beforeMs + ((afterMs - beforeMs) * (handled - before)) / Math.max(1, after - before)
}
