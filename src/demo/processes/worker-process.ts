// A demo worker in its own process: a plain unstuck application whose handlers can misbehave.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClaimedJob } from '../../job/lease.ts'
import { unstuck } from '../../unstuck/unstuck.ts'
import {
  blockMs,
  breakerSettings,
  FAULTY_JOB,
  type FromProcess,
  type JobPayload,
  readProcessSettings,
  workerIdOf,
} from '../demo-settings.ts'
import { writeLedger } from '../receipt/ledger.ts'

const { name, databaseUrl, schema, ledgerFile, fault } = readProcessSettings()
const workerId = workerIdOf(name, process.pid)
const q = unstuck({
  logger: false,
  databaseUrl,
  schema,
  workerId,
  concurrency: 1,
  pollMs: [100, 200],
  prune: false,
  dependencies: { gateway: breakerSettings },
})

// The demo has gone: exit.
process.once('disconnect', () => process.exit(1))
const report = (message: FromProcess) => process.send?.(message)

q.handle('plain', work)
q.handle('render', work)
q.handle('block', async (job) => {
  // No timer runs meanwhile; heartbeats come from another thread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs)
  return end(job)
})
q.handle('poison', () => {
  process.kill(process.pid, 'SIGKILL')
  return sleep(60_000)
})
q.handle(
  'convert',
  async (job, { gateway }) => {
    await gateway('/convert', { method: 'POST' })
    return work(job)
  },
  { dependency: 'gateway' },
)

q.on('job:ended', ({ job, end: how }) => {
  if (how === 'completed') accept(job)
  else if (how === 'lost') void writeLate(job)
})
await q.start()
report({ kind: 'ready' })

async function work(job: ClaimedJob): Promise<{ by: string }> {
  await sleep(payloadOf(job).durationMs)
  return end(job)
}

function end(job: ClaimedJob): { by: string } {
  const isLost = fault === 'lose-effect' && payloadOf(job).n === FAULTY_JOB
  if (!isLost) writeLedger(ledgerFile, { kind: 'effect', jobId: job.jobId, fence: job.fence })
  return { by: workerId }
}

function accept(job: ClaimedJob): void {
  const line = { kind: 'accepted', jobId: job.jobId, fence: job.fence } as const
  writeLedger(ledgerFile, line)
  if (fault === 'finish-twice' && payloadOf(job).n === FAULTY_JOB) writeLedger(ledgerFile, line)
}

/** A careless worker: it ignores that its lease is lost and writes its result. */
async function writeLate({ jobId, leaseId, fence }: ClaimedJob): Promise<void> {
  const [answer] = await q.store.completeJobs([{ jobId, leaseId, result: { by: workerId } }])
  report({ kind: 'late-write', jobId, fence, outcome: answer?.outcome ?? 'none' })
}

function payloadOf(job: ClaimedJob): JobPayload {
  return job.payload as unknown as JobPayload
}
