// The time until the job of a killed worker runs again, with the defaults of each.
import type { ContenderId } from '../../contenders/contender.ts'
import { type Bench, contenderVariants, LeftOut, type Measure } from '../../measure.ts'
import { clockMs } from '../../processes/processes.ts'
import { runRescue } from './run-rescue.ts'

export const rescue: Measure = {
  id: 'rescue',
  title: 'Rescue after kill -9',
  isOnce: true,
  method:
    'A worker process runs a long job, another is idle. The first is killed with SIGKILL; the time until the second starts the job, with the defaults of each product. Those that wait longer than two minutes are named, not waited for.',
  columns: () => [{ key: 'rescueMs', title: 'runs again after ms' }],
  variants: (bench) =>
    contenderVariants(bench, contenders(bench), async (id, contender) => {
      if (contender.startDefaultWorker === undefined) throw new LeftOut(contender.rescue ?? 'not measured')
      const end = (worker: { kill(): void }) => {
        const killedAtMs = clockMs()
        worker.kill()
        return killedAtMs
      }
      return { rescueMs: await runRescue(bench, { id, contender, idleWorkers: 1, end }) }
    }),
}

function contenders({ isQuick }: Bench): ContenderId[] {
  return isQuick ? ['unstuck'] : ['unstuck', 'pg-boss', 'graphile-worker', 'river', 'bullmq-redis']
}
