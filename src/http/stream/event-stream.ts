// One viewer of the live feed: server-sent events over one response. `events` have ids, so a browser that reconnects resumes
// after the last one it received.
import type { Actor } from '../../commands/actor.ts'
import type { StreamTopic } from '../contract/index.ts'
import { toApiProblem } from '../problem.ts'
import { toWireBreaker } from '../wire/breakers.ts'
import { toWireEvent, toWireHealth, toWireQueue, toWireRunning, type View } from '../wire/jobs.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { FeedMessage, LiveFeed } from './live-feed.ts'
import { MAX_NAMED, type StreamPlace, writePlace } from './stream-place.ts'

export interface StreamOptions {
  feed: LiveFeed
  clock: DatabaseClock
  actor: Actor
  topics: ReadonlySet<StreamTopic>
  view: Omit<View, 'now'>
  /** Position at which the viewer's last stream ended. */
  place: StreamPlace | null
  /** Aborted when the server stops or the viewer disconnects. */
  signal: AbortSignal
  /** Aborted when the viewer loses access. */
  refused: AbortSignal
  onEnd: () => void
  /** Closes the connection and drops unread data; null if the server does not pass it. */
  disconnect: (() => void) | null
}

const KEEPALIVE_MS = 15_000
/** Then the viewer reconnects and its token is checked again. */
const MAX_STREAM_MS = 600_000
/** Maximum number of messages that wait for an owner lookup. */
const MAX_WAITING = 1_000
/** Maximum of unread bytes before a viewer is disconnected: a viewer that does not read would fill the memory. */
const MAX_UNREAD_BYTES = 1_048_576
const MAX_REPLAY_PAGES = 5

export function openEventStream(options: StreamOptions): ReadableStream<Uint8Array> {
  let stream: EventStream | undefined
  return new ReadableStream(
    {
      start(controller) {
        stream = new EventStream(options, controller)
      },
      cancel() {
        stream?.end()
      },
    },
    { highWaterMark: MAX_UNREAD_BYTES, size: ({ byteLength }) => byteLength },
  )
}

class EventStream {
  readonly #options: StreamOptions
  readonly #controller: ReadableStreamDefaultController<Uint8Array>
  readonly #offs: (() => void)[] = []
  readonly #sent = new Set<string>()
  /** In order: some need an owner lookup. */
  #queue: Promise<void>
  #waiting = 0
  #newest = 0n
  readonly #coming = new Set<bigint>()
  #lastLeases = ''
  #isOver = false

  constructor(options: StreamOptions, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#options = options
    this.#controller = controller
    this.#send('retry: 2000\n\n')
    const { feed, topics, place, signal, refused } = options
    this.#queue = place === null ? Promise.resolve() : this.#replay(place)
    this.#offs.push(feed.subscribe({ topics, hear: (message) => this.#enqueue(message) }))
    const keepalive = setInterval(() => this.#send(': keepalive\n\n'), KEEPALIVE_MS)
    const onAbort = () => this.end()
    const onOver = () => this.#finish()
    const over = setTimeout(onOver, MAX_STREAM_MS)
    signal.addEventListener('abort', onAbort)
    refused.addEventListener('abort', onOver)
    this.#offs.push(
      () => clearInterval(keepalive),
      () => clearTimeout(over),
      () => signal.removeEventListener('abort', onAbort),
      () => refused.removeEventListener('abort', onOver),
    )
    keepalive.unref()
    over.unref()
  }

  end(): void {
    if (this.#isOver) return
    this.#leave()
    try {
      this.#controller.close()
    } catch {
      // The reader has left already.
    }
  }

  /** Closing alone would keep the connection and its buffer until the client reads. */
  #finish(): void {
    if (this.#controller.desiredSize === MAX_UNREAD_BYTES) this.end()
    else this.#cutOff()
  }

  #cutOff(): void {
    if (this.#isOver) return
    const { disconnect } = this.#options
    this.#leave()
    if (disconnect === null) this.#controller.error(new Error('the viewer does not read'))
    else disconnect()
  }

  #leave(): void {
    this.#isOver = true
    for (const off of this.#offs) off()
    this.#options.onEnd()
  }

  #enqueue(message: FeedMessage): void {
    this.#waiting += 1
    if (message.topic === 'events') this.#coming.add(BigInt(message.event.id))
    this.#queue = this.#queue
      .then(() => this.#deliver(message))
      .catch(() => this.end())
      .finally(() => {
        this.#waiting -= 1
      })
    if (this.#waiting > MAX_WAITING) this.end()
  }

  async #replay({ newest, missing }: StreamPlace): Promise<void> {
    const { feed } = this.#options
    this.#newest = newest
    try {
      for (const event of await feed.tail.among(missing)) await this.#deliver(feed.toMessage(event))
      for (let page = 0, after = newest; page < MAX_REPLAY_PAGES; page++) {
        const events = await feed.tail.after(after)
        for (const event of events) await this.#deliver(feed.toMessage(event))
        const last = events.at(-1)
        if (last === undefined) return
        after = BigInt(last.id)
      }
      // Too far behind: the viewer reconnects and resumes from there.
      this.end()
    } catch (error) {
      await this.#deliver({ topic: 'stale', problem: toApiProblem(error) })
    }
  }

  async #deliver(message: FeedMessage): Promise<void> {
    const { clock, actor } = this.#options
    if (this.#isOver) return
    if (message.topic === 'stale') {
      const { code, message: detail } = message.problem
      return this.#write('stale', { code, detail })
    }
    const view = { ...this.#options.view, now: await clock.now() }
    const envelope = { db_now: view.now.toISOString() }
    switch (message.topic) {
      case 'leases': {
        const mine = message.leases.filter(
          ({ job }) => actor.owner === undefined || job.owner === actor.owner,
        )
        const leases = mine.map(({ job, table }) => toWireRunning(job, table))
        // Nothing runs, and nothing ran at the last read.
        if (leases.length === 0 && this.#lastLeases === '[]') return
        this.#lastLeases = leases.length === 0 ? '[]' : ''
        return this.#write('leases', { ...envelope, leases, is_complete: message.isComplete })
      }
      case 'events': {
        const { event } = message
        this.#coming.delete(BigInt(event.id))
        if (this.#sent.has(event.id)) return
        this.#sent.add(event.id)
        if (actor.owner !== undefined && (await message.owner()) !== actor.owner) return
        return this.#write('events', { ...envelope, event: toWireEvent(event, view) }, this.#place(event.id))
      }
      case 'counts': {
        const tables = message.health.map(({ table, value }) => toWireHealth(value, table))
        const queues = message.queues.map(({ table, value }) => toWireQueue(value, table))
        return this.#write('counts', { ...envelope, tables, queues })
      }
      case 'breakers':
        return this.#write('breakers', { ...envelope, breakers: message.breakers.map(toWireBreaker) })
    }
  }

  /** The position after this event. Events queued for this viewer count as missing. */
  #place(eventId: string): string {
    const id = BigInt(eventId)
    if (id > this.#newest) this.#newest = id
    const newest = this.#newest
    const missing = [...this.#options.feed.tail.missing(MAX_NAMED + 1), ...this.#coming]
    return writePlace({ newest, missing: missing.filter((each) => each < newest) })
  }

  #write(event: string, data: unknown, id?: string): void {
    const head = id === undefined ? '' : `id: ${id}\n`
    this.#send(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #send(text: string): void {
    if (this.#isOver) return
    if ((this.#controller.desiredSize ?? 0) <= 0) return this.#cutOff()
    this.#controller.enqueue(new TextEncoder().encode(text))
  }
}
