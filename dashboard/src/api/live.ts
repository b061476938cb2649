// Live state for the whole page. A hidden or paused tab receives nothing.
import { useSyncExternalStore } from 'react'
import { noteDatabaseTime } from './database-clock.ts'
import { type Known, shareLive } from './live-share.ts'
import { applyMessage, emptyLiveState, type LiveMessage, type LiveState } from './live-state.ts'

let state = emptyLiveState
let isPaused = false
let leave: (() => void) | null = null
/** The last message of each topic except events, for another tab. */
const latest = new Map<string, { message: LiveMessage; atMs: number }>()
const listeners = new Set<() => void>()

function publish(next: LiveState): void {
  state = next
  for (const listener of listeners) listener()
}

function receive(message: LiveMessage, ageMs = 0): void {
  const atMs = performance.now() - ageMs
  if ('db_now' in message.data) noteDatabaseTime(message.data.db_now, ageMs)
  if (message.topic !== 'events') latest.set(message.topic, { message, atMs })
  if (message.topic !== 'stale') latest.delete('stale')
  publish(applyMessage(state, message, atMs))
}

function known(): Known {
  const messages = [...latest.values()].map(({ message, atMs }) => {
    return { message, ageMs: performance.now() - atMs }
  })
  const newest = messages.find(({ message }) => message.topic === 'leases')
  if (newest?.message.topic === 'leases') {
    const { db_now } = newest.message.data
    for (const event of state.events)
      messages.unshift({ ...newest, message: { topic: 'events', data: { db_now, event } } })
  }
  return { messages, connection: state.connection }
}

function follow(): void {
  const isWanted = listeners.size > 0 && !isPaused && !document.hidden
  if (isWanted && leave === null)
    leave = shareLive({
      hear: receive,
      connect: (connection) => publish({ ...state, connection }),
      known,
    })
  else if (!isWanted) stop()
}

function stop(): void {
  leave?.()
  leave = null
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

/** Live state of all tables. */
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

/** Reconnects, after sign-in or on request. */
export function reconnect(): void {
  stop()
  follow()
}
