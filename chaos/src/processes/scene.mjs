// Everything that works on the job table: the workers and a reaper, each a process behind its own proxy, and a reaper of SQL alone.
import { join } from 'node:path'
import { WorkerClock } from '../faults/worker-clock.mjs'
import { CONCURRENCY, WORKERS } from '../settings.mjs'
import { tableOf } from './database.mjs'
import { ProcessSlot } from './process-slot.mjs'
import { SqlReaper } from './sql-reaper.mjs'

/** @import { CleanUps } from './clean-ups.mjs' */
/** @import { Disturbances } from '../faults/disturbances.mjs' */
/** @import { ChaosProfile } from '../settings.mjs' */
/**
 * @typedef {object} SceneOptions
 * @property {string} databaseUrl
 * @property {string} sqlReaperUrl
 * @property {string[]} [roles] whom the workers connect as, in turn
 * @property {string} folder
 * @property {ChaosProfile} profile
 * @property {Disturbances} disturbances
 * @property {CleanUps} cleanUps
 * @property {(kind: string) => void} onDirected
 * @property {number} [workerCount]
 * @property {number} [concurrency] of each worker
 */

/** By how much clocks are wrong, slot after slot: right, an hour ahead, a day behind, some seconds. */
const WRONG_BY_S = [0, 3_600, -86_400, 7, -3]

/** @param {SceneOptions} options */
export async function startScene(options) {
  const { folder, profile, disturbances, cleanUps, onDirected, roles = [] } = options
  const ledgerOf = (/** @type {string} */ name) => join(folder, `${name}.ledger`)
  const slotOf = (/** @type {string} */ name, /** @type {URL} */ script, /** @type {number} */ index) => {
    const slot = new ProcessSlot({
      name,
      script,
      databaseUrl: withUser(options.databaseUrl, roles[index % roles.length]),
      env: {
        PATH: process.env['PATH'],
        UNSTUCK_PROFILE: profile,
        UNSTUCK_WEBHOOK_ALLOW_PRIVATE: '1',
        CHAOS_LEDGER: ledgerOf(name),
        CHAOS_CONCURRENCY: String(options.concurrency ?? CONCURRENCY),
      },
      clock: new WorkerClock(join(folder, `${name}.clock`), WRONG_BY_S[index % WRONG_BY_S.length] ?? 0),
      disturbances,
      onDirected,
    })
    cleanUps.addKill(() => slot.close())
    return slot
  }
  const workers = Array.from({ length: options.workerCount ?? WORKERS }, (_, index) =>
    slotOf(`w${index + 1}`, new URL('worker-process.mjs', import.meta.url), index),
  )
  const reaper = slotOf('reaper', new URL('reaper-process.mjs', import.meta.url), 1)
  const { attachment } = tableOf(profile)
  const sqlReaper = new SqlReaper(options.sqlReaperUrl, attachment === 'native' ? '' : `__${attachment}`)
  await Promise.all([...workers, reaper].map((slot) => slot.start()))
  sqlReaper.start()
  cleanUps.add(() => sqlReaper.stop())
  return { workers, reaper, sqlReaper, ledgers: workers.map(({ name }) => ledgerOf(name)) }
}

/**
 * As a deploy would: everybody is asked to leave.
 * @param {{ workers: ProcessSlot[], reaper: ProcessSlot, sqlReaper: SqlReaper }} scene
 */
export async function stopScene({ workers, reaper, sqlReaper }) {
  await Promise.all([...workers, reaper].map((slot) => slot.leave()))
  await sqlReaper.stop()
}

/**
 * @param {string} databaseUrl
 * @param {string | undefined} user
 */
function withUser(databaseUrl, user) {
  const url = new URL(databaseUrl)
  if (user !== undefined) url.username = user
  return url.href
}
