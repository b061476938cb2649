import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { propertyRuns } from '../../../test/support/vitest/property-runs.ts'
import { createBatcher } from './batcher.ts'

const MAX_CALLS = 4

describe('a batcher, whatever the order in which calls end', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** How many are asked for in one moment, and whether so much time passes after it that calls count as held up. */
  const moments = fc.array(fc.record({ count: fc.integer({ min: 1, max: 130 }), isLong: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  })

  it('WORK-5 every item is in one call, and gets the answer of that call and no other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        moments,
        fc.func(fc.boolean()),
        async (scheduler, asked, isFailing) => {
          const calls: number[][] = []
          let underWay = 0
          const batcher = createBatcher(async (items: number[]) => {
            calls.push(items)
            underWay++
            expect(underWay).toBeLessThanOrEqual(MAX_CALLS)
            try {
              await scheduler.schedule(Promise.resolve(), `call of ${items.length}`)
            } finally {
              underWay--
            }
            if (isFailing(items[0])) throw new Error(`call of ${items[0]} failed`)
            return items.map((item) => `answer ${item}`)
          })
          const answers: Promise<string[]>[] = []
          let next = 0
          for (const { count, isLong } of asked) {
            const items = Array.from({ length: count }, () => next++)
            answers.push(
              Promise.all(
                items.map((item) => batcher.add(item).catch((error: unknown) => (error as Error).message)),
              ),
            )
            await vi.advanceTimersByTimeAsync(isLong ? 60 : 0)
            if (scheduler.count() > 0 && isFailing(count)) await scheduler.waitNext(1)
          }
          const idle = { isReached: false }
          void batcher.idle().then(() => {
            idle.isReached = true
          })
          // A call that nobody makes would never end: so many turns of the loop without one are a fault.
          for (let turns = 0; !idle.isReached && turns < 50; turns++) {
            if (scheduler.count() > 0) {
              await scheduler.waitNext(1)
              turns = 0
            }
            await vi.advanceTimersByTimeAsync(0)
          }
          expect(idle.isReached).toBe(true)
          expect(underWay).toBe(0)
          expect(calls.flat().toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: next }, (_, item) => item),
          )
          const heard = (await Promise.all(answers)).flat()
          const expected = calls.flatMap((items) =>
            items.map((item) => [
              item,
              isFailing(items[0]) ? `call of ${items[0]} failed` : `answer ${item}`,
            ]),
          )
          expect(heard).toEqual(
            expected.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, answer]) => answer),
          )
        },
      ),
      propertyRuns(),
    )
  })
})

it('WORK-5 the end of a call does not cut the gathering of the next one short', async () => {
  const calls: number[][] = []
  const answers: (() => void)[] = []
  const gatherings: (() => void)[] = []
  const batcher = createBatcher(
    async (items: number[]) => {
      calls.push(items)
      await new Promise<void>((resolve) => answers.push(resolve))
      return items
    },
    () => new Promise<void>((resolve) => gatherings.push(resolve)),
  )
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const added = [batcher.add(1)]
  gatherings[0]?.()
  await settle()
  added.push(batcher.add(2))
  answers[0]?.()
  await settle()
  expect(calls).toEqual([[1]])
  added.push(batcher.add(3))
  gatherings[1]?.()
  await settle()
  answers[1]?.()
  expect(await Promise.all(added)).toEqual([1, 2, 3])
  expect(calls).toEqual([[1], [2, 3]])
})
