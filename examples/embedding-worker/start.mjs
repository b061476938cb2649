// Two workers embed texts through an API that allows ten calls a second, some of which another client uses up: our own limit
// prevents most 429s, and a job that still gets one is released.
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runPrune, unstuck } from 'unstuck'
import { openDatabase } from '../open-database.mjs'
import { runExample } from '../run-example.mjs'
import { startWorkers } from '../start-workers.mjs'
import { startApi } from './api.mjs'

/** @import { Unstuck } from 'unstuck' */

const folder = resolve(process.argv[2] ?? '.unstuck/embedding-worker')
const textCount = Number(process.argv[3] ?? 60)
const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))
/** The API's limit, and our estimate of it: nobody knows the burst of a provider exactly. */
const apiLimit = { ratePerS: 10, burst: 5 }
const ownLimit = { ratePerS: 10, burst: 10 }
const NOT_OURS = 'not ours'
/** Short enough to watch. Defaults: lease 300, heartbeat 120, sweep 60. The retention has none. */
const settings = {
  DEFAULT_LEASE_SEC: '6',
  HEARTBEAT_SEC: '2',
  REAPER_INTERVAL_SEC: '1',
  EMBED_JOB_RETENTION_DAYS: '14',
}
Object.assign(process.env, { ...settings, ...process.env })
Object.assign(process.env, {
  UNSTUCK_PROFILE: 'embedding',
  EMBED_RATE_PER_S: ownLimit.ratePerS,
  EMBED_BURST: ownLimit.burst,
})

await runExample(async (atEnd) => {
  const database = await openDatabase({ folder, tables: new URL('tables.sql', import.meta.url) })
  atEnd(() => database.stop())
  console.log(
    `${database.description}\nSettings of this example, not the defaults: ${JSON.stringify(settings)}`,
  )
  const api = await startApi(apiLimit)
  atEnd(() => api.close())
  process.env['EMBED_API_URL'] = api.url
  atEnd(useUpTokens(api.url))

  const q = unstuck()
  atEnd(() => q.stop())
  // Workers do this by themselves, some time in their first minute and then every hour.
  const retentionDays = Number(process.env['EMBED_JOB_RETENTION_DAYS'])
  const deleted = await runPrune(q.store, { retentionDays })
  console.log(`${deleted} ${deleted === 1 ? 'job' : 'jobs'} past the retention deleted`)
  const ids = await enqueueTexts(q)
  const workers = startWorkers({ command: process.execPath, args: [worker], count: 2 })
  atEnd(() => workers.stop())
  await Promise.race([untilEnded(q, ids), workers.failed])
  await report(q, ids, api)
})

/**
 * Another client with the same key: now and then the API answers 429 although our own limit was kept.
 * @param {string} url
 */
function useUpTokens(url) {
  const timer = setInterval(() => {
    for (let n = 0; n < 4; n++) fetch(url, { method: 'POST', body: NOT_OURS }).catch(() => {})
  }, 700)
  return () => clearInterval(timer)
}

/**
 * Continues unfinished texts of an earlier run, or enqueues new ones if there are none.
 * @param {Unstuck} q
 */
async function enqueueTexts(q) {
  const { jobs } = await q.store.listJobs({}, { limit: 1000 })
  const unfinished = jobs.filter(({ status }) => status === 'waiting' || status === 'running')
  if (unfinished.length > 0) {
    console.log(`${unfinished.length} texts of an earlier run go on`)
    return unfinished.map(({ id }) => id)
  }
  const enqueued = await q.enqueueMany(
    Array.from({ length: textCount }, (_, n) => ({ type: 'embed', payload: { text: `text ${n + 1}` } })),
  )
  console.log(`${enqueued.length} texts are pending`)
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
 * @param {Awaited<ReturnType<typeof startApi>>} api
 */
async function report(q, ids, { embedded, refused }) {
  const jobs = await Promise.all(ids.map((id) => q.store.getJob(id)))
  const sum = (/** @type {'attempt' | 'releases'} */ count) =>
    jobs.reduce((total, job) => total + (job?.[count] ?? 0), 0)
  const done = jobs.filter((job) => job?.status === 'succeeded').length
  const again = [...embedded].filter(([text, times]) => text !== NOT_OURS && times > 1).length
  const refusals = refused.filter((text) => text !== NOT_OURS).length
  console.log(
    `${done} of ${ids.length} texts embedded, ${again} more than once, ${refusals} calls refused with 429, ` +
      `${sum('releases')} releases, ${sum('attempt')} attempts spent`,
  )
  if (done < ids.length) process.exitCode = 1
}
