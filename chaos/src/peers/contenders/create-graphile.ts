// https://worker.graphile.org/docs/error-handling: a job of a process that was killed stays locked for 4 hours.
import { EventEmitter } from 'node:events'
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'
import type { Contender } from '../contender.ts'
import type { PeerJob } from '../make-jobs.ts'
import { BUDGET, CONCURRENCY, DEPLOY_GRACE_MS, WORKER_GRACE_MS } from '../settings.ts'
import { readPeerVersion } from './peer-version.ts'

export interface WorkerUtilities {
  migrate: () => Promise<void>
  release: () => Promise<void>
  addJob: (name: string, payload: PeerJob, options: object) => Promise<unknown>
  forceUnlockWorkers: (workerIds: string[]) => Promise<void>
}
export interface Graphile {
  Logger: new (make: () => () => void) => object
  makeWorkerUtils: (options: object) => Promise<WorkerUtilities>
  run: (options: object) => Promise<{ stop: () => Promise<void>; promise: Promise<void> }>
}

const worker = {
  concurrentJobs: CONCURRENCY,
  maxPoolSize: 2 * CONCURRENCY,
  pollInterval: 500,
  gracefulShutdownAbortTimeout: WORKER_GRACE_MS,
  // With the default of -1 nothing awaits these writes: a failed one ends the process, and one during stop() is lost.
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
const job = { maxAttempts: BUDGET }

async function importGraphile() {
  const graphile = (await importPeer('graphile-worker')) as Graphile
  return { ...graphile, logger: new graphile.Logger(() => () => {}) }
}

async function openUtilities(connectionString: string) {
  const { makeWorkerUtils, logger } = await importGraphile()
  return makeWorkerUtils({ connectionString, logger })
}

export function createGraphile(name: string, extra: Record<string, unknown> = {}): Contender {
  return {
    name,
    auditSql: 'graphile_worker_audit',
    unfinishedSql: 'graphile_worker_unfinished',
    settings: { ...worker, ...job, ...extra },
    version: () => readPeerVersion('graphile-worker'),
    async install(url) {
      const utilities = await openUtilities(url)
      await utilities.migrate()
      await utilities.release()
    },
    async openProducer(url) {
      const utilities = await openUtilities(url)
      return { add: (payload) => utilities.addJob('work', payload, job), close: () => utilities.release() }
    },
    async startWorker({ url, handle, note }) {
      const { run, logger } = await importGraphile()
      let isStopping = false
      const events = new EventEmitter()
      events.on('pool:create', ({ workerPool }: { workerPool: { id: string } }) =>
        note('pool', { pool: workerPool.id }),
      )
      const runner = await run({
        preset: { worker: { connectionString: url, logger, ...worker } },
        events,
        noHandleSignals: true,
        taskList: {
          work: (payload: PeerJob, { abortSignal }: { abortSignal: AbortSignal }) =>
            handle(payload, abortSignal),
        },
      })
      // A pool that gives up after failed writes would leave an idle process. Exit, so that another one is started.
      const onEnd = () => {
        if (!isStopping) process.exit(1)
      }
      events.on('pool:gracefulShutdown', () => setTimeout(onEnd, DEPLOY_GRACE_MS).unref())
      void runner.promise.then(onEnd, onEnd)
      return {
        stop() {
          isStopping = true
          // Rejects if the pool is already giving up; then wait for that.
          return runner.stop().catch(() => runner.promise)
        },
      }
    },
  }
}

export async function unlockPools(url: string, pools: string[]) {
  const utilities = await openUtilities(url)
  try {
    await utilities.forceUnlockWorkers(pools)
  } finally {
    await utilities.release()
  }
}
