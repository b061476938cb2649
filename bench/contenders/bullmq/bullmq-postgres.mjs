import { createPostgresBackend, withBackend } from 'bullmq'

const { Queue, Worker } = withBackend(createPostgresBackend)

const openQueue = (url) =>
  new Queue('noop', {
    connection: { connectionString: url, max: 20, migrate: true },
    defaultJobOptions: { removeOnComplete: true },
  })

export default {
  name: 'BullMQ on PostgreSQL',
  settings: 'concurrency 50, pool of 20, removeOnComplete',
  needs: 'postgres',
  isSlow: true,
  async install(url) {
    const queue = openQueue(url)
    await queue.waitUntilReady()
    await queue.close()
  },
  async openProducer(url) {
    const queue = openQueue(url)
    await queue.waitUntilReady()
    return {
      addOne: (payload) => queue.add('noop', payload),
      addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'noop', data }))),
      close: () => queue.close(),
    }
  },
  async startWorker(url, onJob) {
    const worker = new Worker('noop', async (job) => onJob(job.data), {
      connection: { connectionString: url, max: 20 },
      concurrency: 50,
    })
    worker.on('error', () => {})
    await worker.waitUntilReady()
    return { stop: () => worker.close() }
  },
  async countUnfinished(url) {
    const queue = openQueue(url)
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
    await queue.close()
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  },
}
