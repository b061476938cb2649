// An idle worker, and the time until a new process takes its first job.
import { readFileSync } from 'node:fs'
import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, type Measure, type Values } from '../measure.ts'
import { clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { filled } from './process.ts'

const FIRST_JOB_MS = 30_000

export const idle: Measure = {
  id: 'idle',
  title: 'An idle worker',
  method:
    'Resident memory of a worker process after one job, with the queue empty; time from the start of the process to the first handler.',
  columns: () => [
    { key: 'rssMb', title: 'RSS MB', digits: 1 },
    { key: 'startUpMs', title: 'first job after ms' },
  ],
  variants: (bench) =>
    contenderVariants(bench, contenders(bench), (id, contender) => measure(bench, id, contender)),
}

function contenders({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = ['unstuck', 'graphile-worker']
  return isQuick ? quick : ['bare-node', ...quick, 'graphile-worker-fast', 'pg-boss-notify', 'bullmq-redis']
}

async function measure(bench: Bench, id: ContenderId, contender: Contender): Promise<Values> {
  const hasJobs = id !== 'bare-node'
  const fresh = await filled(bench, id, contender, 1)
  try {
    const worker = await startBenchWorker(id, fresh.url)
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
