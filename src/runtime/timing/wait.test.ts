import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { wait } from './wait.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('WORK-4 a wait ends with any of its signals, and leaves no listener and no timer', async () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const waiting = wait(60_000, one.signal, other.signal)
  other.abort()
  await waiting
  for (const { signal } of [one, other]) expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

it('WORK-4 a wait for a signal that was aborted before ends at once', async () => {
  await wait(60_000, new AbortController().signal, AbortSignal.abort())
  expect(vi.getTimerCount()).toBe(0)
})

it('WORK-4 a wait ends after its time', async () => {
  const { signal } = new AbortController()
  const waiting = wait(60_000, signal)
  await vi.advanceTimersByTimeAsync(60_000)
  await waiting
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
