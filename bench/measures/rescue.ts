// The time until the job of a killed worker runs again, with the defaults of each.
import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, LeftOut, type Measure, type Values } from '../measure.ts'
import { addJobs, type BenchWorker, clockMs, pause, startBenchWorker } from '../processes/processes.ts'

/** BullMQ needs up to a minute. */
const GIVE_UP_MS = 120_000
const HANDLER_MS = 600_000

export const rescue: Measure = {
  id: 'rescue',
  title: 'Rescue after kill -9',
  method:
    'A worker process runs a long job, another is idle. The first is killed with SIGKILL; the time until the second starts the job, with the defaults of each product. Those that wait longer than two minutes are named, not waited for.',
  columns: () => [{ key: 'rescueMs', title: 'runs again after ms' }],
  variants: (bench) =>
    contenderVariants(bench, contenders(bench), (id, contender) => measure(bench, id, contender)),
}

function contenders({ isQuick }: Bench): ContenderId[] {
  return isQuick ? ['unstuck'] : ['unstuck', 'pg-boss', 'graphile-worker', 'bullmq-redis']
}

async function measure({ servers }: Bench, id: ContenderId, contender: Contender): Promise<Values> {
  if (contender.startDefaultWorker === undefined) throw new LeftOut(contender.rescue ?? 'not measured')
  const fresh = await servers.fresh(contender.needs, { key: `rescue ${id}`, prepare: contender.install })
  const workers: BenchWorker[] = []
  const start = async () => {
    const worker = await startBenchWorker(id, fresh.url, 'work-by-default')
    workers.push(worker)
    return worker
  }
  try {
    const doomed = await start()
    await addJobs(id, fresh.url, [{ mode: 'batch', width: 1, count: 1, handlersMs: [HANDLER_MS] }])
    // A producer adds a job of its own first, which ends at once.
    await untilHandled(doomed, 2)
    const other = await start()
    const killedAtMs = clockMs()
    doomed.kill()
    await untilHandled(other, 1)
    return { rescueMs: (other.report().firstAtMs ?? Number.NaN) - killedAtMs }
  } finally {
    // They would wait for their handlers.
    for (const worker of workers) worker.kill()
    await fresh.drop()
  }
}

async function untilHandled(worker: BenchWorker, count: number): Promise<void> {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  while (worker.report().handled < count) {
    if (clockMs() > giveUpAtMs) throw new LeftOut(`not within ${GIVE_UP_MS / 1_000} s`)
    await pause(5)
  }
}
