import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { queryOnce } from '../query-once.mjs'

const logger = new Logger(() => () => {})

export function createGraphileWorker(name, settings, worker, { isSlow = false } = {}) {
  return {
    name,
    settings,
    isSlow,
    needs: 'postgres',
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
        addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: 'noop', payload }))),
        addInTransaction: (client, payload) =>
          client.query('select graphile_worker.add_job($1, $2)', ['noop', JSON.stringify(payload)]),
        close: () => utils.release(),
      }
    },
    async startWorker(url, onJob) {
      const runner = await run({
        preset: { worker: { connectionString: url, logger, ...worker } },
        noHandleSignals: true,
        taskList: { noop: async (payload) => onJob(payload) },
      })
      return { stop: () => runner.stop() }
    },
    countUnfinished: (url) => queryOnce(url, 'select count(*)::int as count from graphile_worker.jobs'),
  }
}
