import { createPostgresBackend, withBackend } from 'bullmq'

const { Queue, Worker } = withBackend(createPostgresBackend)

const openQueue = (url) =>
  new Queue('noop', {
    connection: { connectionString: url, max: 20, migrate: true },
    defaultJobOptions: { removeOnComplete: true },
  })

async function startHandlers(url, onJob, options) {
  const worker = new Worker('noop', async (job) => onJob(job.data), {
    connection: { connectionString: url, max: 20 },
    ...options,
  })
  worker.on('error', () => {})
  await worker.waitUntilReady()
  return { stop: () => worker.close() }
}

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
      addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: data.type ?? 'noop', data }))),
      close: () => queue.close(),
    }
  },
  startWorker: (url, onJob) => startHandlers(url, onJob, { concurrency: 50 }),
  // All types in one queue, as names.
  handlerSettings: 'concurrency 100, removeOnComplete',
  startHandlers: (url, onJob, { concurrency }) => startHandlers(url, onJob, { concurrency }),
  async countUnfinished(url) {
    const queue = openQueue(url)
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
    await queue.close()
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  },
}
