// Through the public API, as an application would.
import { unstuck } from '../../../dist/index.js'
import { queryOnce } from '../query-once.mjs'

/**
 * `prepare` creates the application's tables before the install, `policy` is stored, `observe` enables observability in the
 * worker.
 */
export function createUnstuck({ name, settings, profile, prepare, policy, observe }) {
  const [table] = profile.tables
  const open = (url, options = {}) =>
    unstuck({ databaseUrl: url, profile: profile.name, logger: false, ...options })
  const { waiting, running } = table.statuses
  // A table without a column for it has one type.
  const ownType = table.defaultType ?? 'noop'
  const startHandlers = async (url, onJob, { types, ...options }) => {
    const queue = open(url, options)
    for (const type of types)
      queue.handle(type, async (job) => {
        const ended = onJob(job.payload)
        if (ended !== undefined) await ended
      })
    const stopObserving = await observe?.(queue)
    await queue.start()
    return {
      async stop() {
        await stopObserving?.()
        await queue.stop()
      },
    }
  }
  const startWorker = (url, onJob) => startHandlers(url, onJob, { types: [ownType] })
  return {
    name,
    settings,
    handlerSettings: 'concurrency 100',
    needs: 'postgres',
    jobTable: `"${table.schema}"."${table.table}"`,
    async install(url) {
      await prepare?.(url)
      const { migrateUp } = await import('../../../dist/store/postgres/index.js')
      await migrateUp({ databaseUrl: url, schema: 'unstuck', profile })
      if (policy === undefined) return
      const queue = open(url)
      await queue.store.writePolicy(policy)
      await queue.stop()
    },
    async openProducer(url) {
      const queue = open(url)
      return {
        addOne: (payload) => queue.enqueue({ type: ownType, payload }),
        addMany: (payloads) =>
          queue.enqueueMany(payloads.map((payload) => ({ type: payload.type ?? ownType, payload }))),
        addInTransaction: (tx, payload) => queue.enqueue({ type: ownType, payload }, { tx }),
        close: () => queue.stop(),
      }
    },
    startWorker,
    startDefaultWorker: startWorker,
    startHandlers,
    countUnfinished: (url) =>
      queryOnce(
        url,
        `select count(*)::int as count from "${table.schema}"."${table.table}" where status = any ($1)`,
        [[waiting, ...running]],
      ),
  }
}
