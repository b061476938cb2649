// A worker of the drill, in its own process. It claims only the canary job, sends heartbeats, and completes the job on
// request; the first one is killed before that.
import { setTimeout as sleep } from 'node:timers/promises'
import { holdPresence, openTable } from '../../compose/index.ts'
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

async function run(task: CanaryTask): Promise<void> {
  const { databaseUrl, schema, table, jobIds, workerId, leaseMs, presenceUrl } = task
  const { store, close } = openTable({ databaseUrl, schema, table, connections: 1 })
  const presence =
    presenceUrl === null
      ? null
      : await holdPresence({ databaseUrl: presenceUrl, schema, table, workerId, longestLeaseMs: leaseMs })
  report({ offReason: presence === null ? 'not wanted' : presence.offReason })
  const order = new Promise<CanaryOrder>((resolve) => process.once('message', resolve))
  const jobs: ClaimedJob[] = []
  const beat = setInterval(() => void store.heartbeatJobs(jobs, { leaseMs }).catch(() => {}), leaseMs / 3)
  await claimWhenDue()
  if ((await order) === 'freeze') await freeze()
  clearInterval(beat)
  const completions = jobs.map((job) => ({ ...job, result: { by: workerId } }))
  // The drill reads the result from the row.
  const outcomes = await store.completeJobs(completions, { policy: { keepCompleted: true } })
  report({ outcome: outcomes.find(({ outcome }) => outcome !== 'completed')?.outcome ?? 'completed' })
  await presence?.stop()
  await close()
  process.disconnect?.()

  async function claimWhenDue(): Promise<void> {
    for (;;) {
      for (const jobId of jobIds) {
        if (jobs.some((job) => job.jobId === jobId)) continue
        const claimed = await store.claimJob(jobId, { workerId, leaseMs })
        if (claimed === 'not-claimable') continue
        jobs.push(claimed)
        report({ jobId, leaseId: claimed.leaseId, fence: claimed.fence })
      }
      if (jobs.length === jobIds.length) return
      await sleep(POLL_MS)
    }
  }
}

/**
 * As if it were stopped: it neither sends nor reads, and its connections stay open. SIGSTOP would leave the process behind when the
 * drill itself is killed.
 */
async function freeze(): Promise<never> {
  const drill = process.ppid
  await new Promise((resolve) => process.send?.({ frozen: true } satisfies CanaryMessage, resolve))
  const cell = new Int32Array(new SharedArrayBuffer(4))
  while (isRunning(drill)) Atomics.wait(cell, 0, 0, POLL_MS)
  process.exit(1)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0) && process.ppid === pid
  } catch {
    return false
  }
}

function report(message: CanaryMessage): void {
  process.send?.(message)
}
