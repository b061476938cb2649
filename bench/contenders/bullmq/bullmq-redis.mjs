import { Queue, Worker } from 'bullmq'

const connectionOf = (url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) })

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
      addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'noop', data }))),
      close: () => queue.close(),
    }
  },
  async startWorker(url, onJob) {
    const worker = new Worker('noop', async (job) => onJob(job.data), {
      connection: { ...connectionOf(url), maxRetriesPerRequest: null },
      concurrency: 200,
    })
    worker.on('error', () => {})
    await worker.waitUntilReady()
    return { stop: () => worker.close() }
  },
  async startDefaultWorker(url, onJob) {
    const worker = new Worker('noop', async (job) => onJob(job.data), {
      connection: { ...connectionOf(url), maxRetriesPerRequest: null },
    })
    worker.on('error', () => {})
    await worker.waitUntilReady()
    return { stop: () => worker.close() }
  },
  async countUnfinished(url) {
    const queue = new Queue('noop', { connection: connectionOf(url) })
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
    await queue.close()
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  },
}
