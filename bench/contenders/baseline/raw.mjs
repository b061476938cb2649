// Batched claims and completions on separate connections and an async handler for each job. No retries, heartbeats or limits.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { readBenchSql } from '../../sql-file.mjs'
import { queryOnce } from '../query-once.mjs'
import { startRawWorker } from './raw-worker.mjs'

const START = [-1, '-infinity', '0']

export default {
  name: 'raw SQL',
  settings: 'batches of 500, narrow table, watermark, row kept; no retries, heartbeats or limits',
  needs: 'postgres',
  async install(url) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(readBenchSql('raw_table'))
    await client.end()
  },
  async openProducer(url) {
    const pool = new pg.Pool({ connectionString: url, max: 20 })
    const text = readBenchSql('raw_enqueue')
    const add = (payloads, client = pool) =>
      client.query(text, [payloads.map((each) => JSON.stringify(each))])
    return {
      addOne: (payload) => add([payload]),
      addMany: (payloads) => add(payloads),
      addInTransaction: (client, payload) => add([payload], client),
      close: () => pool.end(),
    }
  },
  startWorker(url, onJob) {
    const claim = readBenchSql('raw_claim')
    const complete = readBenchSql('raw_complete')
    let mark = START
    return startRawWorker(url, onJob, {
      async claim(client, limit) {
        const leaseId = randomUUID()
        const { rows } = await client.query(claim, [leaseId, limit, ...mark])
        const last = rows.at(-1)
        mark = last === undefined ? START : [last.priority, last.run_at, last.id]
        return rows.map(({ id, payload }) => ({ id, payload, leaseId }))
      },
      complete: (client, jobs) => client.query(complete, [jobs.map(({ id }) => id), jobs[0].leaseId]),
    })
  },
  countUnfinished: (url) =>
    queryOnce(url, `select count(*)::int as count from raw_jobs where status in ('waiting', 'running')`),
}
