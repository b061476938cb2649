// Its fastest documented setup: manual fetch and complete in batches, fetching the next batch while one is processed.
import { createPgBoss, openPgBoss } from './pg-boss-application.mjs'

const BATCH = 1000
const FETCHERS = 2

export default createPgBoss({
  name: 'pg-boss',
  settings: `${FETCHERS} loops of fetch(${BATCH}) and complete, row kept`,
  async startWorker(url, onJob) {
    const boss = await openPgBoss(url)
    let isStopping = false
    const loops = Array.from({ length: FETCHERS }, async () => {
      while (!isStopping) {
        const jobs = await boss.fetch('noop', { batchSize: BATCH })
        for (const job of jobs) onJob(job.data)
        if (jobs.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
        else
          await boss.complete(
            'noop',
            jobs.map(({ id }) => id),
          )
      }
    })
    return {
      async stop() {
        isStopping = true
        await Promise.all(loops)
        await boss.stop({ graceful: false })
      },
    }
  },
})
