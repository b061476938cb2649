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
  rescue: 'pg-boss 12.35.0: 15 min after its start (expireInSeconds), checked every 60 s',
  async install(url) {
    const boss = await openPgBoss(url)
    await boss.createQueue('noop', { notify: true })
    await boss.stop({ graceful: false })
  },
  async openProducer(url) {
    const boss = await openPgBoss(url, { max: 20 })
    return {
      addOne: (payload) => boss.send('noop', payload),
      addMany: (payloads) =>
        boss.insert(
          'noop',
          payloads.map((data) => ({ data })),
        ),
      addInTransaction: (client, payload) =>
        boss.send('noop', payload, { db: { executeSql: (text, values) => client.query(text, values) } }),
      close: () => boss.stop({ graceful: false }),
    }
  },
  startWorker,
  countUnfinished: (url) =>
    queryOnce(
      url,
      `select count(*)::int as count from pgboss.job where name = 'noop' and state < 'completed'`,
    ),
})
