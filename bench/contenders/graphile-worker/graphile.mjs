import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { queryOnce } from '../query-once.mjs'

const logger = new Logger(() => () => {})

export function createGraphileWorker(name, settings, worker, { isSlow = false } = {}) {
  const startHandlers = async (url, onJob, { types, ...options }) => {
    const runner = await run({
      preset: { worker: { connectionString: url, logger, ...worker, ...options } },
      noHandleSignals: true,
      taskList: Object.fromEntries(types.map((type) => [type, async (payload) => onJob(payload)])),
    })
    return { stop: () => runner.stop() }
  }
  return {
    name,
    settings,
    handlerSettings: 'concurrentJobs 100, the rest as for no-ops',
    isSlow,
    needs: 'postgres',
    jobTable: 'graphile_worker._private_jobs',
    rescue: 'graphile-worker 0.18.0: 4 h after its start (locked_at), checked every 8 to 10 min',
    async install(url) {
      const utils = await makeWorkerUtils({ connectionString: url, logger })
      await utils.migrate()
      await utils.release()
    },
    async openProducer(url) {
      const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: 20 })
      return {
        addOne: (payload) => utils.addJob('noop', payload),
        addMany: (payloads) =>
          utils.addJobs(payloads.map((payload) => ({ identifier: payload.type ?? 'noop', payload }))),
        addInTransaction: (client, payload) =>
          client.query('select graphile_worker.add_job($1, $2)', ['noop', JSON.stringify(payload)]),
        close: () => utils.release(),
      }
    },
    startWorker: (url, onJob) => startHandlers(url, onJob, { types: ['noop'] }),
    startHandlers: (url, onJob, { concurrency, types }) =>
      startHandlers(url, onJob, { types, concurrentJobs: concurrency }),
    countUnfinished: (url) => queryOnce(url, 'select count(*)::int as count from graphile_worker.jobs'),
  }
}
