// A worker that pg-boss wakes, as a process of its own: claims the job it is told of, and finishes it or holds it until
// somebody kills the process. Says what happened, a line of JSON for each delivery.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { createJobService } from '../../../dist/index.js'
import { clipProfile } from '../../../dist/profile/index.js'
import { createPostgresStore } from '../../../dist/store/postgres/index.js'

const [databaseUrl, workerId, ending] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl })
const service = createJobService(createPostgresStore({ client: pool, table: clipProfile.tables[0] }))
const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
boss.on('error', () => {})
await boss.start()
await boss.work('clip', { pollingIntervalSeconds: 0.5 }, async ([message]) => {
  const { jobId } = message.data
  const claimed = await service.claimJob(jobId, workerId, 1)
  tell({ delivered: jobId, isClaimed: claimed.ok, attempt: claimed.ok ? claimed.value.attempt : null })
  if (!claimed.ok) return
  if (ending === 'hold') await new Promise(() => {})
  const finished = await service.finishJob(jobId, true)
  tell({ finished: jobId, outcome: finished.ok ? finished.value : finished.code })
})
tell({ ready: workerId })

function tell(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
