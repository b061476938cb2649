// Two workers make clips on an embedded database. Kill one of them while it works, or everything, and start again.
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { unstuck } from 'unstuck'
import { openDatabase } from '../open-database.mjs'
import { runExample } from '../run-example.mjs'
import { startWorkers } from '../start-workers.mjs'
import { hasFfmpeg } from './programs.mjs'

/** @import { Unstuck } from 'unstuck' */

const folder = resolve(process.argv[2] ?? '.unstuck/clip-pipeline')
const clipCount = Number(process.argv[3] ?? 2)
const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))
/** Short enough to watch. Defaults: lease 300, heartbeat 15, sweep 60, backoff 30 s, 2 min, 10 min. */
const settings = {
  DEFAULT_LEASE_SEC: '4',
  HEARTBEAT_SEC: '1',
  REAPER_INTERVAL_SEC: '1',
  JOB_RETRY_BACKOFF_MS_BASE: '500',
  JOB_RETRY_BACKOFF_MS_MAX: '500',
}
Object.assign(process.env, { ...settings, ...process.env })
Object.assign(process.env, { UNSTUCK_PROFILE: 'clip', CLIPS_DIR: join(folder, 'clips') })

await runExample(async (atEnd) => {
  const database = await openDatabase({ folder, tables: new URL('tables.sql', import.meta.url) })
  atEnd(() => database.stop())
  console.log(
    `${database.description}\nSettings of this example, not the defaults: ${JSON.stringify(settings)}`,
  )
  console.log(
    hasFfmpeg ? 'ffmpeg does the work' : 'ffmpeg is not on this machine: a stand-in burns CPU instead',
  )

  const q = unstuck({ table: 'jobs' })
  atEnd(() => q.stop())
  const ids = await enqueueClips(q)
  const workers = startWorkers({ command: process.execPath, args: [worker], count: 2 })
  atEnd(() => workers.stop())
  await Promise.race([untilEnded(q, ids), workers.failed])
  await report(q, ids)
})

/**
 * Continues unfinished clips of an earlier run, or enqueues new ones if there are none.
 * @param {Unstuck} q
 */
async function enqueueClips(q) {
  const { jobs } = await q.store.listJobs({}, { limit: 1000 })
  const unfinished = jobs.filter(({ status }) => status === 'waiting' || status === 'running')
  if (unfinished.length > 0) {
    console.log(`${unfinished.length} clips of an earlier run go on`)
    return unfinished.map(({ id }) => id)
  }
  const enqueued = await q.enqueueMany(
    Array.from({ length: clipCount }, (_, n) => ({
      type: 'clip',
      payload: { name: `clip-${jobs.length + n + 1}` },
      // Times 6 in clip, 12 in asr, 8 in burnin: the lease of each stage.
      expectedDurationMs: 600,
    })),
  )
  console.log(`${enqueued.length} clips are queued`)
  return enqueued.map(({ jobId }) => jobId)
}

/**
 * @param {Unstuck} q
 * @param {string[]} ids
 */
async function untilEnded(q, ids) {
  for (;;) {
    const jobs = await Promise.all(ids.map((id) => q.store.getJob(id)))
    if (jobs.every((job) => job?.status === 'succeeded' || job?.status === 'dead')) return
    await delay(200)
  }
}

/**
 * @param {Unstuck} q
 * @param {string[]} ids
 */
async function report(q, ids) {
  for (const id of ids) {
    const job = await q.store.getJob(id)
    const claims = job?.fence === 1 ? 'once' : `${job?.fence} times`
    const crashes = job?.crashes === 1 ? '1 crash' : `${job?.crashes} crashes`
    console.log(`${id} ${job?.status}, claimed ${claims}, ${crashes}: ${JSON.stringify(job?.result)}`)
    if (job?.status !== 'succeeded') process.exitCode = 1
  }
}
