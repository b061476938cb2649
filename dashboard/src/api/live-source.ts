// Source of live messages: the server's stream or, without it, polling every two seconds.
import type { BreakerList, HealthAnswer, LeaseList, QueueList } from '../../../src/http/contract/index.ts'
import { apiAddress, request } from './client.ts'
import type { LiveMessage, LiveState } from './live-state.ts'

const TOPICS = ['leases', 'events', 'counts', 'breakers', 'stale'] as const
const POLL_MS = 2_000
const RETRY_STREAM_MS = 10_000

export type Connection = LiveState['connection']

export interface LiveListener {
  /** `ageMs`: time since it was sent, if another tab kept it. */
  hear(message: LiveMessage, ageMs?: number): void
  connect(connection: Connection): void
}

export class LiveSource {
  readonly #listener: LiveListener
  #stream: EventSource | null = null
  #connection: Connection = 'connecting'
  #isClosed = false
  #pollTimer: ReturnType<typeof setTimeout> | undefined
  #retryTimer: ReturnType<typeof setTimeout> | undefined

  constructor(listener: LiveListener) {
    this.#listener = listener
    this.#open()
  }

  close(): void {
    this.#isClosed = true
    this.#stream?.close()
    clearTimeout(this.#pollTimer)
    clearTimeout(this.#retryTimer)
  }

  #open(): void {
    const stream = new EventSource(apiAddress('v1/stream'))
    this.#stream = stream
    stream.addEventListener('open', () => {
      clearTimeout(this.#pollTimer)
      this.#connect('live')
    })
    for (const topic of TOPICS)
      stream.addEventListener(topic, (event: MessageEvent<string>) => {
        this.#listener.hear({ topic, data: JSON.parse(event.data) as never })
      })
    stream.addEventListener('error', () => {
      // The server ends streams regularly: the connection is lost only if polling fails too.
      if (this.#connection === 'live') this.#connect('connecting')
      if (stream.readyState === EventSource.CLOSED)
        this.#retryTimer = setTimeout(() => this.#open(), RETRY_STREAM_MS)
      clearTimeout(this.#pollTimer)
      void this.#poll()
    })
  }

  #connect(connection: Connection): void {
    this.#connection = connection
    this.#listener.connect(connection)
  }

  async #poll(): Promise<void> {
    const found = await readAll().catch(() => null)
    if (this.#isClosed || this.#connection === 'live') return
    for (const message of found ?? []) this.#listener.hear(message)
    this.#connect(found === null ? 'lost' : 'polling')
    this.#pollTimer = setTimeout(() => void this.#poll(), POLL_MS)
  }
}

async function readAll(): Promise<LiveMessage[]> {
  const [leases, health, queues, breakers] = await Promise.all([
    request<LeaseList>('GET', 'v1/leases'),
    request<HealthAnswer>('GET', 'v1/health'),
    request<QueueList>('GET', 'v1/queues'),
    request<BreakerList>('GET', 'v1/breakers'),
  ])
  return [
    { topic: 'leases', data: leases },
    { topic: 'counts', data: { ...queues, tables: health.tables } },
    { topic: 'breakers', data: breakers },
  ]
}
