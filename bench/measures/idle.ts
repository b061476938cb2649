// An idle worker, and the time until a new process takes its first job.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, LeftOut, type Measure, type Values } from '../measure.ts'
import { clockMs, type ProcessOptions, pause, startBenchWorker } from '../processes/processes.ts'
import { filled } from './process.ts'

const FIRST_JOB_MS = 30_000
const home = fileURLToPath(new URL('..', import.meta.url))
const node20 = `${home}node_modules/node20/bin/node`

export const idle: Measure = {
  id: 'idle',
  title: 'An idle worker',
  method:
    'Resident memory of a worker process after one job, with the queue empty; time from the start of the process to the first handler. Node 22 unless noted.',
  columns: () => [
    { key: 'rssMb', title: 'RSS MB', digits: 1 },
    { key: 'startUpMs', title: 'first job after ms' },
  ],
  async variants(bench) {
    const older = await contenderVariants(bench, ['unstuck', 'graphile-worker'], (id, contender) => {
      if (!existsSync(node20)) throw new LeftOut('Node 20 is not installed in bench/node_modules')
      return measure(bench, id, contender, { node: node20 })
    })
    return [
      ...(await contenderVariants(bench, contenders(bench), (id, contender) =>
        measure(bench, id, contender),
      )),
      ...older.map((variant) => ({
        ...variant,
        id: `${variant.id}-node20`,
        name: `${variant.name}, Node 20`,
      })),
    ]
  },
}

function contenders({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = ['unstuck', 'graphile-worker']
  return isQuick ? quick : ['bare-node', ...quick, 'graphile-worker-fast', 'pg-boss-notify', 'bullmq-redis']
}

async function measure(
  bench: Bench,
  id: ContenderId,
  contender: Contender,
  options: ProcessOptions = {},
): Promise<Values> {
  const hasJobs = id !== 'bare-node'
  const fresh = await filled(bench, id, contender, 1)
  try {
    const worker = await startBenchWorker(id, fresh.url, 'work', options)
    const giveUpAtMs = clockMs() + FIRST_JOB_MS
    const isWaiting = () => hasJobs && worker.report().firstAtMs === null
    while (isWaiting() && clockMs() < giveUpAtMs) await pause(5)
    await pause(bench.sizes.idleMs)
    const rssMb = readRssMb(worker.pid)
    const { firstAtMs } = worker.report()
    await worker.stop()
    return { rssMb, ...(firstAtMs === null ? {} : { startUpMs: firstAtMs - worker.forkedAtMs }) }
  } finally {
    await fresh.drop()
  }
}

function readRssMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1_024
}
