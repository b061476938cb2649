// One poller per server process, started by the first viewer and stopped by the last. Heartbeats are not events; they show as
// a later lease expiry.
import { setTimeout as waitFor } from 'node:timers/promises'
import { scopes } from '../../commands/actor.ts'
import type { CommandContext } from '../../commands/command.ts'
import { type HeldLease, listLeases } from '../../commands/lease-commands.ts'
import { listBreakers, readHealth, type TableHealth } from '../../commands/queue-control-commands.ts'
import type { FeedEvent } from '../../store/access-store.ts'
import type { Breaker, QueueStatus } from '../../store/job-store.ts'
import type { AppOptions } from '../app-options.ts'
import type { StreamTopic } from '../contract/index.ts'
import { type ApiProblem, toApiProblem, valueOf } from '../problem.ts'
import { EventTail } from './event-tail.ts'

export type FeedMessage =
  | { topic: 'leases'; leases: HeldLease[]; isComplete: boolean }
  | { topic: 'events'; event: FeedEvent; owner: () => Promise<string | null> }
  | {
      topic: 'counts'
      health: { table: string; value: TableHealth }[]
      queues: { table: string; value: QueueStatus }[]
    }
  | { topic: 'breakers'; breakers: Breaker[] }
  | { topic: 'stale'; problem: ApiProblem }

export interface Viewer {
  topics: ReadonlySet<StreamTopic>
  hear(message: FeedMessage): void
}

const TICK_MS = 1_000
/** Ticks between reads of counts and breakers. */
const SLOW_TICKS = 2
const SHOWN_LEASES = 500

export class LiveFeed {
  readonly #options: AppOptions
  readonly #context: CommandContext
  readonly #viewers = new Set<Viewer>()
  readonly #latest = new Map<StreamTopic, FeedMessage>()
  #stop: AbortController | undefined
  #tail: EventTail
  #stale: (FeedMessage & { topic: 'stale' }) | undefined

  constructor(options: AppOptions) {
    const { tables, policy } = options
    this.#options = options
    this.#tail = new EventTail(options.access)
    const actor = { id: 'live-feed', scopes }
    this.#context = { actor, isReadOnly: true, tables, ...(policy === undefined ? {} : { policy }) }
  }

  /** Sends the known state at once. Returns the unsubscribe function. */
  subscribe(viewer: Viewer): () => void {
    this.#viewers.add(viewer)
    for (const [topic, message] of this.#latest) if (viewer.topics.has(topic)) viewer.hear(message)
    if (this.#stale !== undefined) viewer.hear(this.#stale)
    if (this.#stop === undefined) {
      this.#stop = new AbortController()
      void this.#run(this.#stop.signal)
    }
    return () => {
      this.#viewers.delete(viewer)
      if (this.#viewers.size === 0) this.close()
    }
  }

  close(): void {
    this.#stop?.abort()
    this.#stop = undefined
    this.#tail = new EventTail(this.#options.access)
    this.#latest.clear()
    this.#stale = undefined
  }

  get tail(): Pick<EventTail, 'after' | 'among' | 'missing'> {
    return this.#tail
  }

  toMessage(event: FeedEvent): FeedMessage & { topic: 'events' } {
    let owner: Promise<string | null> | undefined
    return {
      topic: 'events',
      event,
      owner: () => {
        owner ??= this.#ownerOf(event)
        return owner
      },
    }
  }

  async #ownerOf({ jobId, data }: FeedEvent): Promise<string | null> {
    const table = this.#options.tables.find(({ name }) => name === data.table)
    return (await table?.store.getJob(jobId))?.owner ?? null
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let tick = 0; !signal.aborted; tick++) {
      try {
        await this.#read(tick % SLOW_TICKS === 0)
        this.#stale = undefined
      } catch (error) {
        const stale = { topic: 'stale', problem: toApiProblem(error) } as const
        if (this.#stale === undefined) this.#send(stale)
        this.#stale = stale
      }
      await waitFor(TICK_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #read(isSlow: boolean): Promise<void> {
    if (this.#isWatched('leases')) {
      const found = valueOf(await listLeases(this.#context, { limit: SHOWN_LEASES }))
      this.#send({ topic: 'leases', ...found })
    }
    if (this.#isWatched('events'))
      for (const event of await this.#tail.next()) this.#send(this.toMessage(event))
    if (isSlow && this.#isWatched('counts')) {
      const health = valueOf(await readHealth(this.#context, {}))
      const queues = health.flatMap(({ table, value }) =>
        value.queues.map((queue) => ({ table, value: queue })),
      )
      this.#send({ topic: 'counts', health, queues })
    }
    if (isSlow && this.#isWatched('breakers')) {
      this.#send({ topic: 'breakers', breakers: valueOf(await listBreakers(this.#context, undefined)) })
    }
  }

  #isWatched(topic: StreamTopic): boolean {
    return [...this.#viewers].some(({ topics }) => topics.has(topic))
  }

  #send(message: FeedMessage): void {
    if (message.topic !== 'events' && message.topic !== 'stale') this.#latest.set(message.topic, message)
    for (const viewer of this.#viewers) {
      if (message.topic === 'stale' || viewer.topics.has(message.topic)) viewer.hear(message)
    }
  }
}
