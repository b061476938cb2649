// https://docs.bullmq.io/guide/going-to-production: close() on SIGTERM, errors handled. https://docs.bullmq.io/guide/jobs/stalled:
// the number of stalls may be raised.

import type { EventEmitter } from 'node:events'
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'
import type { Contender } from '../contender.ts'
import type { PeerJob } from '../make-jobs.ts'
import { BUDGET, CONCURRENCY, EXPIRY_MS, SWEEP_MS } from '../settings.ts'
import { readPeerVersion } from './peer-version.ts'

export type Connected = EventEmitter & { waitUntilReady: () => Promise<unknown>; close: () => Promise<void> }
export type Queue = Connected & { add: (name: string, data: PeerJob) => Promise<unknown> }
export type Processor = (job: { data: PeerJob }, token: string, signal?: AbortSignal) => Promise<void>
export interface Classes {
  Queue: new (name: string, options: object) => Queue
  Worker: new (name: string, processor: Processor, options: object) => Connected
}

const job = { attempts: BUDGET }
const worker = {
  concurrency: CONCURRENCY,
  lockDuration: EXPIRY_MS,
  lockRenewTime: EXPIRY_MS / 4,
  stalledInterval: SWEEP_MS,
  maxStalledCount: BUDGET,
  runRetryDelay: 1_000,
}

async function importClasses() {
  const bullmq = (await importPeer('bullmq')) as {
    createPostgresBackend: unknown
    withBackend: (backend: unknown) => Classes
  }
  return bullmq.withBackend(bullmq.createPostgresBackend)
}

async function openQueue(connectionString: string) {
  const { Queue } = await importClasses()
  const queue = new Queue('work', { connection: { connectionString, migrate: true }, defaultJobOptions: job })
  queue.on('error', () => {})
  await queue.waitUntilReady()
  return queue
}

export const contender: Contender = {
  name: 'BullMQ on PostgreSQL',
  auditSql: 'bullmq_audit',
  unfinishedSql: 'bullmq_unfinished',
  settings: { ...worker, ...job },
  version: () => readPeerVersion('bullmq'),
  async install(url) {
    const queue = await openQueue(url)
    await queue.close()
  },
  async openProducer(url) {
    const queue = await openQueue(url)
    return { add: (data) => queue.add('work', data), close: () => queue.close() }
  },
  async startWorker({ url, handle, note }) {
    process.on('uncaughtException', (error) => note('uncaught', { error: String(error) }))
    process.on('unhandledRejection', (reason) => note('uncaught', { error: String(reason) }))
    const { Worker } = await importClasses()
    const started = new Worker('work', ({ data }, _, signal) => handle(data, signal), {
      connection: { connectionString: url },
      ...worker,
    })
    started.on('error', () => {})
    await started.waitUntilReady()
    return { stop: () => started.close() }
  },
}
