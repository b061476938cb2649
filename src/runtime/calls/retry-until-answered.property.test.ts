import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { propertyRuns } from '../../../test/support/vitest/property-runs.ts'
import { UnstuckError } from '../../errors/index.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { retryUntilAnswered } from './retry-until-answered.ts'

/** The connection breaks before the statement, or after its commit and before the answer. */
type Fault = 'before' | 'after'

async function startOne() {
  const store = createMemoryStore()
  await store.enqueueJobs([{ type: 'encode' }])
  const [lease] = await store.claimJobs({ workerId: 'w1', queues: ['encode'], limit: 1 })
  if (lease === undefined) throw new Error('nothing was claimed')
  return { store, lease }
}

const gone = () => new UnstuckError('DATABASE_UNREACHABLE', 'the connection is gone')

describe('a write whose answer may get lost', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const faults = fc.array(fc.constantFrom<Fault>('before', 'after'), { maxLength: 12 })

  it('WORK-5 is made once, and its outcome is known in the end, whatever was lost before', async () => {
    await fc.assert(
      fc.asyncProperty(faults, async (plan) => {
        const { store, lease } = await startOne()
        let calls = 0
        const known = retryUntilAnswered(
          async () => {
            const fault = plan[calls++]
            if (fault === 'before') throw gone()
            const [answer] = await store.completeJobs([lease])
            if (fault === 'after') throw gone()
            return answer?.outcome
          },
          () => false,
        )
        await vi.runAllTimersAsync()
        expect(await known).toBe(plan.includes('after') ? 'already-done' : 'completed')
        expect(calls).toBe(plan.length + 1)
        expect(await store.getJob(lease.jobId)).toMatchObject({ status: 'succeeded' })
      }),
      propertyRuns(),
    )
  })

  it('C2 ends with the error once the lease is lost for certain, and makes no more calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (lostAfter) => {
        let calls = 0
        const known = retryUntilAnswered(
          async () => {
            calls++
            throw gone()
          },
          () => calls >= lostAfter,
        )
        const ended = known.catch((error: unknown) => error)
        await vi.runAllTimersAsync()
        expect(await ended).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
        expect(calls).toBe(lostAfter)
      }),
      propertyRuns(),
    )
  })
})
