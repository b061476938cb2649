// A worker of the drill, in its own process. It claims only the canary job, sends heartbeats, and completes the job on
// request; the first one is killed before that.
import { setTimeout as sleep } from 'node:timers/promises'
import { openTable } from '../../compose/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { CanaryMessage, CanaryOrder, CanaryTask } from './canary.ts'

const POLL_MS = 100

// The drill has gone: exit.
process.once('disconnect', () => process.exit(1))
process.once('message', (task: CanaryTask) => {
  run(task).catch((error: unknown) => {
    report({ failed: error instanceof Error ? error.message : String(error) })
    process.exit(1)
  })
})

async function run({ databaseUrl, schema, table, jobId, workerId, leaseMs }: CanaryTask): Promise<void> {
  const { store, close } = openTable({ databaseUrl, schema, table, connections: 1 })
  const job = await claimWhenDue()
  const beat = setInterval(() => void store.heartbeatJobs([job], { leaseMs }).catch(() => {}), leaseMs / 3)
  const order = new Promise<CanaryOrder>((resolve) => process.once('message', resolve))
  report({ jobId: job.jobId, leaseId: job.leaseId, fence: job.fence })
  await order
  clearInterval(beat)
  const [outcome] = await store.completeJobs([{ ...job, result: { by: workerId } }])
  report({ outcome: outcome?.outcome ?? 'not-found' })
  await close()
  process.disconnect?.()

  async function claimWhenDue(): Promise<ClaimedJob> {
    for (;;) {
      const claimed = await store.claimJob(jobId, { workerId, leaseMs })
      if (claimed !== 'not-claimable') return claimed
      await sleep(POLL_MS)
    }
  }
}

function report(message: CanaryMessage): void {
  process.send?.(message)
}
