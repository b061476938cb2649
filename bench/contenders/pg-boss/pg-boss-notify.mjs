// Its lowest documented latency for single jobs: workers woken by NOTIFY.
import { createPgBoss, openPgBoss } from './pg-boss-application.mjs'

export default createPgBoss({
  name: 'pg-boss, LISTEN/NOTIFY',
  settings: 'useListenNotify, queue with notify, work() with batchSize 100',
  async startWorker(url, onJob) {
    const boss = await openPgBoss(url, { useListenNotify: true })
    await boss.work('noop', { batchSize: 100 }, async (jobs) => {
      for (const job of jobs) onJob(job.data)
    })
    return { stop: () => boss.stop({ graceful: false }) }
  },
})
