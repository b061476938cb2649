// https://worker.graphile.org/docs/error-handling: a job of a process that was killed stays locked for 4 hours.
import { EventEmitter } from 'node:events'
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'
import { BUDGET, CONCURRENCY, DEPLOY_GRACE_MS, WORKER_GRACE_MS } from '../settings.mjs'
import { readPeerVersion } from './peer-version.mjs'

/** @import { Contender } from '../contender.mjs' */
/** @import { PeerJob } from '../make-jobs.mjs' */
/**
 * @typedef {object} WorkerUtilities
 * @property {() => Promise<void>} migrate
 * @property {() => Promise<void>} release
 * @property {(name: string, payload: PeerJob, options: object) => Promise<unknown>} addJob
 * @property {(workerIds: string[]) => Promise<void>} forceUnlockWorkers
 */
/**
 * @typedef {object} Graphile
 * @property {new (make: () => () => void) => object} Logger
 * @property {(options: object) => Promise<WorkerUtilities>} makeWorkerUtils
 * @property {(options: object) => Promise<{ stop: () => Promise<void>, promise: Promise<void> }>} run
 */

const worker = {
  concurrentJobs: CONCURRENCY,
  maxPoolSize: 2 * CONCURRENCY,
  pollInterval: 500,
  gracefulShutdownAbortTimeout: WORKER_GRACE_MS,
  // With the default of -1 nobody waits for these writes: one that fails ends the process, and one that a stop() meets is lost.
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
const job = { maxAttempts: BUDGET }

async function importGraphile() {
  const graphile = /** @type {Graphile} */ (await importPeer('graphile-worker'))
  return { ...graphile, logger: new graphile.Logger(() => () => {}) }
}

/** @param {string} connectionString */
async function openUtilities(connectionString) {
  const { makeWorkerUtils, logger } = await importGraphile()
  return makeWorkerUtils({ connectionString, logger })
}

/**
 * @param {string} name
 * @param {Record<string, unknown>} [extra]
 * @returns {Contender}
 */
export function createGraphile(name, extra = {}) {
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
      events.on('pool:create', (/** @type {{ workerPool: { id: string } }} */ { workerPool }) =>
        note('pool', { pool: workerPool.id }),
      )
      const runner = await run({
        preset: { worker: { connectionString: url, logger, ...worker } },
        events,
        noHandleSignals: true,
        taskList: {
          work: (
            /** @type {PeerJob} */ payload,
            /** @type {{ abortSignal: AbortSignal }} */ { abortSignal },
          ) => handle(payload, abortSignal),
        },
      })
      // A pool that gives up, after writes that failed, would leave a process that does nothing: another one is started.
      const onEnd = () => {
        if (!isStopping) process.exit(1)
      }
      events.on('pool:gracefulShutdown', () => setTimeout(onEnd, DEPLOY_GRACE_MS).unref())
      void runner.promise.then(onEnd, onEnd)
      return {
        stop() {
          isStopping = true
          // It refuses where it was about to give up; then that is waited for.
          return runner.stop().catch(() => runner.promise)
        },
      }
    },
  }
}

/**
 * @param {string} url
 * @param {string[]} pools
 */
export async function unlockPools(url, pools) {
  const utilities = await openUtilities(url)
  try {
    await utilities.forceUnlockWorkers(pools)
  } finally {
    await utilities.release()
  }
}
