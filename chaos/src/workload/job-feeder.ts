// The application: enqueues, sometimes cancels, and tries to act on jobs of other owners. Connects directly, so that each
// response counts as an acknowledgement.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JobStore, loadConfig, openDeployment, unstuck } from 'unstuck'
import type { Intrusion } from '../judge/history.ts'
import { type ChaosDatabase, queryRows, tableOf } from '../processes/database.ts'
import { type ChaosProfile, LIMITED_QUEUES, policyOf } from '../settings.ts'
import type { Batch } from './workload.ts'

const WEBHOOK_EVENTS = ['reaper:requeued', 'failed']
const ACTS_EVERY = 8
const RETRY_MS = 500
/** A busy machine may take seconds to start a worker. */
const NO_PROGRESS_MS = 60_000

type FedDatabase = Pick<ChaosDatabase, 'url' | 'withClient'>

export class JobFeeder {
  enqueuedIds: string[] = []
  unknownEnqueues = 0
  intrusions: Intrusion[] = []
  webhooks: { webhookId: string; events: string[]; shard: number }[] = []
  storedPolicy
  #isEnough = false
  #open
  #databases
  #table
  #receiver = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end())
  })

  /** Expects one database, or one for each shard. */
  constructor(databases: FedDatabase[], profile: ChaosProfile) {
    this.#databases = databases
    this.#table = tableOf(profile)
    const policy = policyOf[profile]
    this.storedPolicy = {
      maxCrashes: 'max_crashes' in policy ? policy.max_crashes : this.#table.policy.maxCrashes,
      maxTimeouts: 'max_timeouts' in policy ? policy.max_timeouts : this.#table.policy.maxTimeouts,
    }
    this.#open = openStores(
      databases.map(({ url }) => url),
      profile,
    )
  }

  static async open(databases: FedDatabase[], profile: ChaosProfile) {
    const feeder = new JobFeeder(databases, profile)
    await feeder.#addWebhooks()
    if (profile === 'native') await feeder.#limitQueues()
    return feeder
  }

  get #store() {
    return this.#open.store
  }

  async #addWebhooks() {
    await new Promise((resolve) => this.#receiver.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = this.#receiver.address() as AddressInfo
    for (const [shard, store] of this.#open.parts.entries()) {
      const { webhookId } = await store.addWebhook({
        url: `http://127.0.0.1:${port}/`,
        secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        events: WEBHOOK_EVENTS,
      })
      this.webhooks.push({ webhookId, events: WEBHOOK_EVENTS, shard })
    }
  }

  async #limitQueues() {
    for (const store of this.#open.parts)
      for (const [queue, limits] of Object.entries(LIMITED_QUEUES))
        await store.limitQueue(queue, limits, { actor: 'application' })
  }

  async feed(batches: Batch[]) {
    const from = performance.now()
    for (const [index, { atMs, jobs }] of batches.entries()) {
      await sleep(Math.max(0, atMs - (performance.now() - from)))
      if (this.#isEnough) return
      const [first] = await this.enqueue(jobs)
      if (index % ACTS_EVERY !== 0 || first === undefined) continue
      // Not retried after an outage.
      await this.#act(first, jobs[0]?.owner ?? '').catch(() => {})
    }
  }

  /** Skips batches that an outage delayed: the run does not wait for them. */
  stopFeeding() {
    this.#isEnough = true
  }

  /** Retries until acknowledged, as an application would. Jobs of earlier tries may exist too. */
  async enqueue(jobs: Batch['jobs']): Promise<string[]> {
    while (!this.#isEnough) {
      try {
        const ids = (await this.#store.enqueueJobs(jobs)).map(({ jobId }) => jobId)
        this.enqueuedIds.push(...ids)
        return ids
      } catch {
        this.unknownEnqueues++
        await sleep(RETRY_MS)
      }
    }
    return []
  }

  async #act(jobId: string, owner: string) {
    const asIntruder = { owner: `not ${owner}`, actor: 'intruder' }
    const [cancelled] = await this.#store.cancelJobs([jobId], asIntruder)
    const [retried] = await this.#store.retryJobs([jobId], asIntruder)
    this.intrusions.push(
      { act: 'cancel', outcome: cancelled?.outcome ?? 'nothing' },
      { act: 'retry', outcome: retried?.outcome ?? 'nothing' },
    )
    await this.#store.cancelJobs([jobId], { owner, actor: 'application' })
  }

  /** Acknowledged jobs and attempted intrusions. */
  outcome() {
    const { enqueuedIds, intrusions, webhooks } = this
    return { enqueuedIds, intrusions, webhooks }
  }

  /** Waits until no job is waiting or running, as long as their number shrinks. */
  async drain(signal: AbortSignal | undefined) {
    const from = performance.now()
    let least = Number.POSITIVE_INFINITY
    for (let progressAt = from; performance.now() - progressAt < NO_PROGRESS_MS; ) {
      if (signal?.aborted === true) throw new Error('interrupted')
      const unfinished = await this.#countUnfinished()
      if (unfinished === 0) break
      if (unfinished < least) progressAt = performance.now()
      least = Math.min(least, unfinished)
      await sleep(200)
    }
    return Math.round(performance.now() - from)
  }

  async #countUnfinished() {
    const { schema, table, statuses } = this.#table
    const words = [statuses.waiting, ...statuses.running].map((word) => `'${word}'`).join(', ')
    const sql = `select id from ${schema}.${table} where status in (${words})`
    const counts = await Promise.all(
      this.#databases.map((database) =>
        database
          .withClient(async (client) => (await queryRows(client, sql)).length)
          .catch(() => Number.POSITIVE_INFINITY),
      ),
    )
    return counts.reduce((total, count) => total + count, 0)
  }

  async close() {
    this.stopFeeding()
    this.#receiver.close()
    this.#receiver.closeAllConnections()
    await this.#open.close()
  }
}

/** `parts` are the stores of the shards, or the only one. */
function openStores(urls: string[], profile: ChaosProfile) {
  if (urls.length === 1) {
    const env = { DATABASE_URL: urls[0] ?? '', UNSTUCK_PROFILE: profile }
    const deployment = openDeployment(loadConfig({ env }))
    const store = deployment.tables[0].store as JobStore
    return { store, parts: [store], close: () => deployment.close() }
  }
  const q = unstuck({ shards: urls.map((url) => ({ url })), logger: false })
  const store = q.store as JobStore
  return { store, parts: store.shards?.all.map((shard) => shard.store) ?? [], close: () => q.stop() }
}
