// A worker of the demo, in a process of its own: claims jobs one by one, beats while it works, and ends each. With nothing
// to finish it claims one job and works on it until somebody kills it.
import { setTimeout as sleep } from 'node:timers/promises'
import { openDeployment } from '../../compose.ts'
import { loadConfig } from '../../config/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { demoPolicy, demoSchema, type WorkerMessage } from './demo-settings.ts'

const [workerId = 'worker', finish = '0'] = process.argv.slice(2)
const databaseUrl = process.env['UNSTUCK_DEMO_URL']
const deployment = openDeployment({ ...loadConfig({ env: {} }), schema: demoSchema }, databaseUrl)
const { store } = deployment.tables[0]

// A worker whose demo is gone has nobody to work for.
process.once('disconnect', () => process.exit(1))

for (let left = Number(finish); ; left--) {
  const job = await claimOne()
  process.send?.({ jobId: job.jobId, leaseId: job.leaseId } satisfies WorkerMessage)
  const beat = setInterval(() => void store.heartbeatJobs([job]), demoPolicy.heartbeatMs)
  await sleep(left > 0 ? 300 : 3_600_000)
  clearInterval(beat)
  await store.completeJobs([{ ...job, result: { by: workerId } }])
  if (left === 1) break
}
await deployment.close()
process.disconnect?.()

async function claimOne(): Promise<ClaimedJob> {
  for (;;) {
    const [job] = await store.claimJobs({ workerId, queues: ['demo'], limit: 1 })
    if (job !== undefined) return job
    await sleep(100)
  }
}
