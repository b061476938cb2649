import { PgBoss } from 'pg-boss'
import { queryOnce } from '../query-once.mjs'

export async function openPgBoss(url, options = {}) {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, ...options })
  boss.on('error', () => {})
  await boss.start()
  return boss
}

export const createPgBoss = ({ name, settings, startWorker }) => ({
  name,
  settings,
  needs: 'postgres',
  jobTable: 'pgboss.job',
  rescue: 'pg-boss 12.35.0: 15 min after its start (expireInSeconds), checked every 60 s',
  async install(url, types = ['noop']) {
    const boss = await openPgBoss(url)
    for (const type of types) await boss.createQueue(type, { notify: true })
    await boss.stop({ graceful: false })
  },
  async openProducer(url) {
    const boss = await openPgBoss(url, { max: 20 })
    return {
      addOne: (payload) => boss.send('noop', payload),
      async addMany(payloads) {
        // A queue for each type; one call takes one queue.
        for (const [type, jobs] of Map.groupBy(payloads, (data) => data.type ?? 'noop'))
          await boss.insert(
            type,
            jobs.map((data) => ({ data })),
          )
      },
      addInTransaction: (client, payload) =>
        boss.send('noop', payload, { db: { executeSql: (text, values) => client.query(text, values) } }),
      close: () => boss.stop({ graceful: false }),
    }
  },
  startWorker,
  // Its cheapest way: a batch at a time, whose handlers run together.
  handlerSettings: 'work() for each queue, batchSize 100 in all, burstWhenBatchFull; row kept',
  async startHandlers(url, onJob, { concurrency, types }) {
    const boss = await openPgBoss(url)
    const options = {
      batchSize: Math.max(2, Math.floor(concurrency / types.length)),
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
    }
    for (const type of types)
      await boss.work(type, options, async (jobs) => {
        await Promise.all(jobs.map((job) => onJob(job.data)))
      })
    return { stop: () => boss.stop({ graceful: false }) }
  },
  countUnfinished: (url) =>
    queryOnce(
      url,
      `select count(*)::int as count from pgboss.job where name not like '\\_\\_pgboss%' and state < 'completed'`,
    ),
})
