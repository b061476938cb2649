// https://github.com/timgit/pg-boss/blob/master/docs/api/queues.md: a heartbeat for dead workers, the expiry well above the
// longest job. Both supervision intervals are as short as it accepts; a deploy calls stop() with its timeout.

import type { EventEmitter } from 'node:events'
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'
import type { Contender } from '../contender.ts'
import type { PeerJob } from '../make-jobs.ts'
import { BUDGET, CONCURRENCY, EXPIRY_MS, SWEEP_MS, WORKER_GRACE_MS } from '../settings.ts'
import { readPeerVersion } from './peer-version.ts'

export type BossJob = { data: PeerJob; signal: AbortSignal }
export type Boss = EventEmitter & {
  start: () => Promise<unknown>
  stop: (options: object) => Promise<void>
  createQueue: (name: string, options: object) => Promise<void>
  send: (name: string, data: PeerJob) => Promise<string | null>
  work: (name: string, options: object, handler: (jobs: BossJob[]) => Promise<void>) => Promise<string>
}

const queue = { heartbeatSeconds: EXPIRY_MS / 1_000, expireInSeconds: 60, retryLimit: BUDGET, retryDelay: 0 }
const supervision = { superviseIntervalSeconds: SWEEP_MS / 1_000, monitorIntervalSeconds: SWEEP_MS / 1_000 }
const work = {
  localConcurrency: CONCURRENCY,
  pollingIntervalSeconds: 0.5,
  heartbeatRefreshSeconds: EXPIRY_MS / 4_000,
}
const stop = { graceful: true, timeout: WORKER_GRACE_MS }

async function openBoss(connectionString: string, options: object = { supervise: false, schedule: false }) {
  const { PgBoss } = (await importPeer('pg-boss')) as { PgBoss: new (options: object) => Boss }
  const boss = new PgBoss({ connectionString, ...options })
  boss.on('error', () => {})
  await boss.start()
  return boss
}

export const contender: Contender = {
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
