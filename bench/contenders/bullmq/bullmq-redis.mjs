import { Queue, Worker } from 'bullmq'

const connectionOf = (url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) })

async function startHandlers(url, onJob, options) {
  const worker = new Worker('noop', async (job) => onJob(job.data), {
    connection: { ...connectionOf(url), maxRetriesPerRequest: null },
    ...options,
  })
  worker.on('error', () => {})
  await worker.waitUntilReady()
  return { stop: () => worker.close() }
}

export default {
  name: 'BullMQ on Redis',
  settings: 'concurrency 200, removeOnComplete',
  needs: 'redis',
  async install() {},
  async openProducer(url) {
    const queue = new Queue('noop', {
      connection: connectionOf(url),
      defaultJobOptions: { removeOnComplete: true },
    })
    await queue.waitUntilReady()
    return {
      addOne: (payload) => queue.add('noop', payload),
      addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: data.type ?? 'noop', data }))),
      close: () => queue.close(),
    }
  },
  startWorker: (url, onJob) => startHandlers(url, onJob, { concurrency: 200 }),
  startDefaultWorker: (url, onJob) => startHandlers(url, onJob, {}),
  // All types in one queue, as names.
  handlerSettings: 'concurrency 100, removeOnComplete',
  startHandlers: (url, onJob, { concurrency }) => startHandlers(url, onJob, { concurrency }),
  async countUnfinished(url) {
    const queue = new Queue('noop', { connection: connectionOf(url) })
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
    await queue.close()
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  },
}
