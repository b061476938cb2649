import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { propertyRuns } from '../../../test/support/vitest/property-runs.ts'
import { repeat } from './repeat.ts'
import { Waker } from './waker.ts'

// Far more than a run takes: where news is forgotten, the work stays unseen.
const PAUSE_MS = 60_000

describe('a loop that news wakes, whenever the news comes', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('WORK-1 the claim loop sees all work without waiting for the end of a pause', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 8 }), async (scheduler, count) => {
        const waker = new Waker()
        const stopping = new AbortController()
        let [arrived, seen] = [0, 0]
        const loop = (async () => {
          while (!stopping.signal.aborted) {
            waker.reset()
            const found = arrived
            // Work that arrives during the look is not in its answer.
            await scheduler.schedule(Promise.resolve(), 'look')
            const hasFound = found > seen
            seen = found
            if (!hasFound) await waker.pause(PAUSE_MS)
          }
        })()
        for (let nth = 0; nth < count; nth++)
          void scheduler.schedule(Promise.resolve(), 'work arrives').then(() => {
            arrived++
            waker.wake()
          })
        await drain(scheduler)
        expect(seen).toBe(count)
        stopping.abort()
        waker.wake()
        await drain(scheduler)
        await loop
      }),
      propertyRuns(),
    )
  })

  it('WORK-1 a service sees all work too, never looks twice at a time, and not after its stop', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 8 }), async (scheduler, count) => {
        let [arrived, seen, looks] = [0, 0, 0]
        const service = repeat(async () => {
          expect(++looks).toBe(1)
          const found = arrived
          await scheduler.schedule(Promise.resolve(), 'look')
          seen = found
          looks--
          return PAUSE_MS
        })
        for (let nth = 0; nth < count; nth++)
          void scheduler.schedule(Promise.resolve(), 'work arrives').then(() => {
            arrived++
            service.wake()
          })
        await drain(scheduler)
        expect(seen).toBe(count)
        const stopped = service.stop()
        await drain(scheduler)
        await stopped
        service.wake()
        expect(scheduler.count()).toBe(0)
      }),
      propertyRuns(),
    )
  })
})

/** Lets everything happen that is under way, in the order of the scheduler, while the clock stands. */
async function drain(scheduler: fc.Scheduler): Promise<void> {
  await vi.advanceTimersByTimeAsync(0)
  while (scheduler.count() > 0) {
    await scheduler.waitNext(1)
    await vi.advanceTimersByTimeAsync(0)
  }
}
