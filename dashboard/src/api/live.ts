// One stream per tab. Where it cannot be had, the same resources are asked for every two seconds. A hidden or paused tab
// asks for nothing.
import { useSyncExternalStore } from 'react'
import type { BreakerList, HealthAnswer, LeaseList, QueueList } from '../../../src/http/contract.ts'
import { apiAddress, request } from './client.ts'
import { noteDatabaseTime } from './database-clock.ts'
import { applyMessage, emptyLiveState, type LiveMessage, type LiveState } from './live-state.ts'

const TOPICS = ['leases', 'events', 'counts', 'breakers', 'stale'] as const
const POLL_MS = 2_000
const RETRY_STREAM_MS = 10_000

let state = emptyLiveState
let isPaused = false
let stream: EventSource | null = null
let pollTimer: ReturnType<typeof setTimeout> | undefined
let retryTimer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

function publish(next: LiveState): void {
  state = next
  for (const listener of listeners) listener()
}

function receive(message: LiveMessage): void {
  if ('db_now' in message.data) noteDatabaseTime(message.data.db_now)
  publish(applyMessage(state, message, performance.now()))
}

function openStream(): void {
  close()
  stream = new EventSource(apiAddress('v1/stream'))
  stream.addEventListener('open', () => {
    clearTimeout(pollTimer)
    publish({ ...state, connection: 'live' })
  })
  for (const topic of TOPICS)
    stream.addEventListener(topic, (event: MessageEvent<string>) => {
      receive({ topic, data: JSON.parse(event.data) as never })
    })
  stream.addEventListener('error', () => {
    // The server ends streams now and then: nothing is lost before the resources do not answer either.
    if (state.connection === 'live') publish({ ...state, connection: 'connecting' })
    if (stream?.readyState === EventSource.CLOSED) retryTimer = setTimeout(openStream, RETRY_STREAM_MS)
    clearTimeout(pollTimer)
    void poll()
  })
}

async function poll(): Promise<void> {
  try {
    const [leases, health, queues, breakers] = await Promise.all([
      request<LeaseList>('GET', 'v1/leases'),
      request<HealthAnswer>('GET', 'v1/health'),
      request<QueueList>('GET', 'v1/queues'),
      request<BreakerList>('GET', 'v1/breakers'),
    ])
    receive({ topic: 'leases', data: leases })
    receive({ topic: 'counts', data: { ...queues, tables: health.tables } })
    receive({ topic: 'breakers', data: breakers })
    if (state.connection !== 'live') publish({ ...state, connection: 'polling' })
  } catch {
    if (state.connection !== 'live') publish({ ...state, connection: 'lost' })
  }
  if (state.connection !== 'live' && isWanted()) pollTimer = setTimeout(() => void poll(), POLL_MS)
}

function close(): void {
  stream?.close()
  stream = null
  clearTimeout(pollTimer)
  clearTimeout(retryTimer)
}

function isWanted(): boolean {
  return listeners.size > 0 && !isPaused && !document.hidden
}

function follow(): void {
  if (!isWanted()) close()
  else if (stream === null) openStream()
}

document.addEventListener('visibilitychange', follow)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  follow()
  return () => {
    listeners.delete(listener)
    follow()
  }
}

export function useLive(): LiveState {
  return useSyncExternalStore(subscribe, () => state)
}

export function useIsPaused(): boolean {
  return useSyncExternalStore(subscribe, () => isPaused)
}

export function setPaused(value: boolean): void {
  isPaused = value
  publish({ ...state })
  follow()
}

/** After somebody signed in, or asked to try again. */
export function reconnect(): void {
  close()
  follow()
}
