// One rescue: a worker runs a long job, others are idle, and the worker ends. The time until one of the others starts the job.
import type { Contender, ContenderId } from '../../contenders/contender.ts'
import { type Bench, LeftOut } from '../../measure.ts'
import {
  addJobs,
  type BenchWorker,
  clockMs,
  type ProcessOptions,
  pause,
  startBenchWorker,
} from '../../processes/processes.ts'

/** Longer than the longest of those that are measured: BullMQ needs up to a minute, a lease of unstuck and its sweep 73 s. */
const GIVE_UP_MS = 120_000
const HANDLER_MS = 600_000
/** The idle workers are watching by then. */
const SETTLE_MS = 2_000

export interface Rescue {
  id: ContenderId
  contender: Contender
  idleWorkers: number
  /** The worker that ends. */
  process?: ProcessOptions
  /** The address of the database for the worker that ends. Default: that of the others. */
  reroute?: (url: string) => Promise<string>
  /** Returns when the worker ended. */
  end: (worker: BenchWorker) => Promise<number> | number
}

/** In milliseconds. */
export async function runRescue({ servers }: Bench, rescue: Rescue): Promise<number> {
  const { id, contender, idleWorkers, process, reroute, end } = rescue
  const fresh = await servers.fresh(contender.needs, { key: `rescue ${id}`, prepare: contender.install })
  const workers: BenchWorker[] = []
  const start = async (url = fresh.url, options: ProcessOptions = {}) => {
    const worker = await startBenchWorker(id, url, 'work-by-default', options)
    workers.push(worker)
    return worker
  }
  try {
    const doomed = await start(await reroute?.(fresh.url), process)
    await addJobs(id, fresh.url, [{ mode: 'batch', width: 1, count: 1, handlersMs: [HANDLER_MS] }])
    // A producer adds a job of its own first, which ends at once.
    await untilStarted([doomed], 2)
    const others: BenchWorker[] = []
    for (let nth = 0; nth < idleWorkers; nth++) others.push(await start())
    await pause(SETTLE_MS)
    const endedAtMs = await end(doomed)
    return (await untilStarted(others, 1)) - endedAtMs
  } finally {
    // They would wait for their handlers.
    for (const worker of workers) worker.kill()
    await fresh.drop()
  }
}

/** Returns when the first of these workers started its first job. */
async function untilStarted(workers: BenchWorker[], jobs: number): Promise<number> {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  for (;;) {
    const found = workers.map((worker) => worker.report()).find(({ handled }) => handled >= jobs)
    if (found !== undefined) return found.firstAtMs ?? Number.NaN
    if (clockMs() > giveUpAtMs) throw new LeftOut(`not within ${GIVE_UP_MS / 1_000} s`)
    await pause(5)
  }
}
