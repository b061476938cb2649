import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { PresenceConnection, PresenceFailure } from '../../store/presence-connection.ts'
import { withResolvers } from '../timing/with-resolvers.ts'
import { type PresenceOptions, startPresence } from './presence-session.ts'
import { keepPresence, type Presence } from './worker-presence.ts'

/** Its statements answer as the test says; one without an answer hangs. */
class FakeConnection implements PresenceConnection {
  readonly take = vi.fn<PresenceConnection['take']>(async () => {})
  readonly destroy = vi.fn()
  readonly #failure: PresenceFailure
  readonly #lost = withResolvers<Error>()

  constructor(failure: PresenceFailure = 'other') {
    this.#failure = failure
  }

  async connect() {}
  async isDirect() {
    return true
  }
  async prepare() {}
  async leave() {}
  async watch() {
    return false
  }
  async look() {
    return { newlyGone: 0, watchers: 0 }
  }
  untilLost() {
    return this.#lost.promise
  }
  async end() {
    this.#lost.resolve(new Error('the session has ended'))
  }
  failureOf() {
    return this.#failure
  }
}

function failing(failure?: PresenceFailure): FakeConnection {
  const connection = new FakeConnection(failure)
  connection.take.mockRejectedValue(new Error('the answer was lost'))
  return connection
}

let presence: Presence | undefined
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(async () => {
  await presence?.stop()
  vi.useRealTimers()
})

function optionsOf(connections: PresenceConnection[]) {
  const open = () => connections.shift() ?? new FakeConnection()
  const options = { workerId: 'w1', longestLeaseMs: 60_000, isWatching: false, open }
  return options satisfies PresenceOptions
}

it('LEASE-10 a lock whose answer was lost is a loss: the server may have seen a session that has ended', async () => {
  const [onLost, onPresent] = [vi.fn(), vi.fn()]
  const first = failing()
  presence = startPresence({ ...optionsOf([first]), onLost, onPresent })
  await vi.advanceTimersByTimeAsync(0)
  expect(first.destroy).toHaveBeenCalledOnce()
  expect(onLost).toHaveBeenCalledExactlyOnceWith(expect.any(Error), expect.any(Number))
  expect(onPresent).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(500)
  expect(onPresent).toHaveBeenCalledOnce()
})

it.each(['refused', 'key-taken'] as const)('LEASE-10 a lock that was %s is no loss', async (failure) => {
  const onLost = vi.fn()
  presence = startPresence({ ...optionsOf([failing(failure)]), onLost })
  await vi.advanceTimersByTimeAsync(0)
  expect(onLost).not.toHaveBeenCalled()
})

it('LEASE-10 a worker shows life from the first lost answer until a session holds its lock', async () => {
  const [showLife, beat, onAtRisk] = [vi.fn(async () => {}), vi.fn(), vi.fn()]
  const connections = [failing(), failing(), failing(), new FakeConnection()]
  presence = keepPresence({
    start: (listener) => startPresence({ ...optionsOf(connections), ...listener }),
    beat,
    showLife,
    lastBeatAtMs: () => 0,
    onAtRisk,
    onOff: () => {},
    onGone: () => {},
  })
  await vi.advanceTimersByTimeAsync(1_400)
  expect(showLife).toHaveBeenCalledTimes(3)
  expect(beat).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(beat).toHaveBeenCalledTimes(2)
  expect(showLife.mock.calls.length).toBeLessThan(6)
  expect(onAtRisk).not.toHaveBeenCalled()
})
