// What a queue has to offer to be put through the same faults.

/** @import { PeerJob } from './make-jobs.mjs' */
/** @typedef {(job: PeerJob, signal: AbortSignal | undefined) => Promise<void>} Handle throws where the signal says stop */
/** @typedef {(kind: string, fields: Record<string, unknown>) => void} Note */
/**
 * @typedef {object} WorkerSetup
 * @property {string} url
 * @property {string} workerId
 * @property {Handle} handle
 * @property {Note} note
 */
/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} auditSql of `chaos/sql/peers`: notes every write that the database accepted
 * @property {string} unfinishedSql of the same folder
 * @property {Record<string, unknown>} settings what differs from the defaults
 * @property {() => Promise<string>} version throws where the package cannot be loaded
 * @property {(url: string) => Promise<void>} install
 * @property {(url: string) => Promise<{ add: (job: PeerJob) => Promise<unknown>, close: () => Promise<unknown> }>} openProducer
 * @property {(setup: WorkerSetup) => Promise<{ stop: () => Promise<unknown> }>} startWorker
 * @property {(url: string, pools: string[]) => Promise<unknown>} [unlock] called by whoever has seen a process exit
 */

export const contenderIds = /** @type {const} */ ([
  'unstuck',
  'pg-boss',
  'graphile-worker',
  'graphile-worker-unlocked',
  'bullmq-postgres',
])
/** @typedef {typeof contenderIds[number]} ContenderId */

/**
 * @param {string} id
 * @returns {id is ContenderId}
 */
export function isContenderId(id) {
  return contenderIds.some((known) => known === id)
}

/**
 * @param {ContenderId} id
 * @returns {Promise<Contender>}
 */
export async function loadContender(id) {
  /** @type {unknown} */
  const loaded = await import(new URL(`contenders/${id}.mjs`, import.meta.url).href)
  return /** @type {{ contender: Contender }} */ (loaded).contender
}
