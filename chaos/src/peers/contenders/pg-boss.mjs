// https://github.com/timgit/pg-boss/blob/master/docs/api/queues.md: a heartbeat for dead workers, the expiry well above the
// longest job. Both intervals of supervision as short as it accepts; a deploy is told with stop() and its timeout.
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'
import { BUDGET, CONCURRENCY, EXPIRY_MS, SWEEP_MS, WORKER_GRACE_MS } from '../settings.mjs'
import { readPeerVersion } from './peer-version.mjs'

/** @import { EventEmitter } from 'node:events' */
/** @import { Contender } from '../contender.mjs' */
/** @import { PeerJob } from '../make-jobs.mjs' */
/** @typedef {{ data: PeerJob, signal: AbortSignal }} BossJob */
/**
 * @typedef {EventEmitter & {
 *   start: () => Promise<unknown>,
 *   stop: (options: object) => Promise<void>,
 *   createQueue: (name: string, options: object) => Promise<void>,
 *   send: (name: string, data: PeerJob) => Promise<string | null>,
 *   work: (name: string, options: object, handler: (jobs: BossJob[]) => Promise<void>) => Promise<string>,
 * }} Boss
 */

const queue = { heartbeatSeconds: EXPIRY_MS / 1_000, expireInSeconds: 60, retryLimit: BUDGET, retryDelay: 0 }
const supervision = { superviseIntervalSeconds: SWEEP_MS / 1_000, monitorIntervalSeconds: SWEEP_MS / 1_000 }
const work = {
  localConcurrency: CONCURRENCY,
  pollingIntervalSeconds: 0.5,
  heartbeatRefreshSeconds: EXPIRY_MS / 4_000,
}
const stop = { graceful: true, timeout: WORKER_GRACE_MS }

/**
 * @param {string} connectionString
 * @param {object} [options]
 */
async function openBoss(connectionString, options = { supervise: false, schedule: false }) {
  const { PgBoss } = /** @type {{ PgBoss: new (options: object) => Boss }} */ (await importPeer('pg-boss'))
  const boss = new PgBoss({ connectionString, ...options })
  boss.on('error', () => {})
  await boss.start()
  return boss
}

/** @type {Contender} */
export const contender = {
  name: 'pg-boss',
  auditSql: 'pg_boss_audit',
  unfinishedSql: 'pg_boss_unfinished',
  settings: { ...queue, ...supervision, ...work, stop },
  version: () => readPeerVersion('pg-boss'),
  async install(url) {
    const boss = await openBoss(url)
    await boss.createQueue('work', queue)
    await boss.stop({ graceful: false })
  },
  async openProducer(url) {
    const boss = await openBoss(url)
    return { add: (job) => boss.send('work', job), close: () => boss.stop({ graceful: false }) }
  },
  async startWorker({ url, handle }) {
    const boss = await openBoss(url, supervision)
    await boss.work('work', work, async ([job]) => {
      if (job !== undefined) await handle(job.data, job.signal)
    })
    return { stop: () => boss.stop(stop) }
  },
}
