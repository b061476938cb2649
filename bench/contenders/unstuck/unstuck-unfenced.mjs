// The native table without its safety. The difference is the cost of fence, lease and budgets.
import { readBenchSql } from '../../sql-file.mjs'
import { startRawWorker } from '../baseline/raw-worker.mjs'
import unstuck from './unstuck.mjs'

export default {
  ...unstuck,
  name: 'unstuck’s table, unfenced',
  settings: 'batches of 500 by plain statements; no lease, budgets, heartbeats or retries',
  startWorker(url, onJob) {
    const claim = readBenchSql('unfenced_claim')
    const complete = readBenchSql('unfenced_complete')
    return startRawWorker(url, onJob, {
      claim: async (client, limit) => (await client.query(claim, ['w', limit])).rows,
      complete: (client, jobs) => client.query(complete, [jobs.map(({ id }) => id)]),
    })
  },
}
