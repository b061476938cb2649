// Handlers that wait, as those of real users do: the cost of a job where throughput is not limited by CPU.
import type { Contender, ContenderId, Crew } from '../contenders/contender.ts'
import {
  type Bench,
  contenderVariants,
  LeftOut,
  type Measure,
  type Values,
  type Variant,
} from '../measure.ts'
import { closeGate } from '../processes/gate.ts'
import { addJobs, type BenchWorker, clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { meterServer } from './process.ts'

/** Upper bound of one run. */
const GIVE_UP_MS = 120_000
export const CONCURRENCY = 100
export const TYPES = ['noop', ...Array.from({ length: 19 }, (_, index) => `type${index + 1}`)]

interface Work {
  handlerMs: number
  jobs: number
  crew: Crew
}

const columns = [
  { key: 'jobsPerS', title: 'jobs/s' },
  { key: 'cpuUsPerJob', title: 'CPU µs/job', digits: 0 },
  { key: 'workerUsPerJob', title: 'of the worker', digits: 0 },
  { key: 'serverUsPerJob', title: 'of the server', digits: 0 },
]

const method =
  'CPU time of the worker process and of all processes of the server, background ones included, from when the started worker may claim until nothing is unfinished.'

export const handlerMeasures: Measure[] = [
  {
    id: 'handlers-50',
    title: 'Handlers of 50 ms',
    method: `One worker process that runs ${CONCURRENCY} handlers at once, each of which waits for 50 ms. ${method}`,
    columns: () => columns,
    variants: (bench) =>
      variantsOf(bench, {
        handlerMs: 50,
        jobs: bench.sizes.handlers.short,
        crew: { concurrency: CONCURRENCY, types: ['noop'] },
      }),
  },
  {
    id: 'handlers-types',
    title: 'Handlers of 1 s, 20 types',
    method: `As above, with handlers that wait for 1 s and jobs of ${TYPES.length} types in turn: 1,000 jobs in a full run. A type is a queue of its own in pg-boss, and a name within one queue in BullMQ and River.`,
    columns: () => columns,
    variants: (bench) =>
      variantsOf(bench, {
        handlerMs: 1_000,
        jobs: bench.sizes.handlers.long,
        crew: { concurrency: CONCURRENCY, types: TYPES },
      }),
  },
]

function contenders({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = ['unstuck', 'graphile-worker-fast']
  return isQuick
    ? quick
    : [...quick, 'graphile-worker', 'pg-boss', 'river', 'bullmq-redis', 'bullmq-postgres']
}

async function variantsOf(bench: Bench, work: Work): Promise<Variant[]> {
  const settingsOf = ({ handlerSettings }: Contender) =>
    `handlers that wait: ${handlerSettings ?? 'not supported'}`
  return contenderVariants(
    bench,
    contenders(bench),
    (id, contender) => measure(bench, id, contender, work),
    settingsOf,
  )
}

async function measure(bench: Bench, id: ContenderId, contender: Contender, work: Work): Promise<Values> {
  const { handlerMs, jobs, crew } = work
  const { types } = crew
  if (contender.startHandlers === undefined && contender.program === undefined)
    throw new LeftOut('it has no handlers that wait')
  const fresh = await bench.servers.fresh(contender.needs, {
    key: `${id} ${jobs} of ${handlerMs} ms`,
    async prepare(url) {
      await contender.install(url, types)
      await addJobs(id, url, [{ mode: 'batch', width: 1_000, count: jobs, handlersMs: [handlerMs], types }])
    },
  })
  try {
    const total = await contender.countUnfinished(fresh.url)
    const gate = await closeGate(fresh.url, contender)
    const worker = await startBenchWorker(id, fresh.url, 'handle', { plan: crew })
    try {
      await gate.settle()
      const start = { atMs: clockMs(), report: await worker.ask() }
      const serverCpu = meterServer(bench, contender)
      await gate.open()
      const end = await untilFinished(worker, serverCpu, total, () => contender.countUnfinished(fresh.url))
      const workerMs = end.report.processCpuMs - start.report.processCpuMs
      return {
        jobsPerS: (total / (end.atMs - start.atMs)) * 1_000,
        cpuUsPerJob: ((workerMs + end.serverMs) / total) * 1_000,
        workerUsPerJob: (workerMs / total) * 1_000,
        serverUsPerJob: (end.serverMs / total) * 1_000,
      }
    } finally {
      await worker.stop()
    }
  } finally {
    await fresh.drop()
  }
}

/** Reads the clocks before it counts, since counting costs the server too. */
async function untilFinished(
  worker: BenchWorker,
  serverCpu: () => number,
  total: number,
  countUnfinished: () => Promise<number>,
) {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  while (worker.report().ended < total && clockMs() < giveUpAtMs) await pause(5)
  for (;;) {
    await pause(50)
    const end = { atMs: clockMs(), serverMs: serverCpu(), report: await worker.ask() }
    const unfinished = await countUnfinished()
    if (unfinished === 0) return end
    if (clockMs() > giveUpAtMs) throw new LeftOut(`${unfinished} jobs not done in ${GIVE_UP_MS / 1_000} s`)
  }
}
