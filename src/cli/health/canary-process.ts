// A worker of the drill, in a process of its own. It claims the canary and no other job, beats as long as it lives, and ends
// it when it is told to; the first one is killed before that.
import { setTimeout as sleep } from 'node:timers/promises'
import { openTable } from '../../compose.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { CanaryMessage, CanaryOrder, CanaryTask } from './canary.ts'

const POLL_MS = 100

// A canary whose drill is gone has nobody to work for.
process.once('disconnect', () => process.exit(1))
process.once('message', (task: CanaryTask) => {
  run(task).catch((error: unknown) => {
    tell({ failed: error instanceof Error ? error.message : String(error) })
    process.exit(1)
  })
})

async function run({ databaseUrl, schema, table, jobId, workerId, leaseMs }: CanaryTask): Promise<void> {
  const { store, close } = openTable({ databaseUrl, schema, table, connections: 1 })
  const job = await claimWhenDue()
  const beat = setInterval(() => void store.heartbeatJobs([job], { leaseMs }).catch(() => {}), leaseMs / 3)
  const order = new Promise<CanaryOrder>((resolve) => process.once('message', resolve))
  tell({ jobId: job.jobId, leaseId: job.leaseId, fence: job.fence })
  await order
  clearInterval(beat)
  const [settled] = await store.completeJobs([{ ...job, result: { by: workerId } }])
  tell({ settled: settled?.outcome ?? 'not-found' })
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

function tell(message: CanaryMessage): void {
  process.send?.(message)
}
