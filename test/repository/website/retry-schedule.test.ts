// The viewer is held to the store: a job that never succeeds is really driven through its tries.
import { describe, expect, it } from 'vitest'
import { nativePolicy, type Policy } from '../../../src/policy/policy.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { presets } from '../../../website/presets.ts'
import { scheduleRetries } from '../../../website/retry-schedule.ts'

/** Waits of the store itself, without jitter. */
async function waitsInStore(policy: Policy, end: 'failure' | 'crash'): Promise<(number | null)[]> {
  // One lost lease of one running job is all there is: no mass that would be held or spread.
  const store = createMemoryStore({ policy: { ...policy, requeueRatePerS: 0 }, random: () => 0 })
  const [enqueued] = await store.enqueueJobs([{ type: 'job', stage: 'job' }])
  const waits: (number | null)[] = []
  for (;;) {
    const [job] = await store.claimJobs({ workerId: 'worker-1', queues: ['job'], limit: 1 })
    if (job === undefined) throw new Error('the job could not be claimed')
    let retryInMs: number | null | undefined
    if (end === 'failure')
      [{ retryInMs } = { retryInMs: null }] = await store.failJobs([{ ...job, code: 'X' }])
    else {
      store.elapse((job.leaseMs ?? 0) + 1)
      const { reaped } = await store.sweepJobs()
      retryInMs = reaped[0]?.retryInMs
    }
    waits.push(retryInMs ?? null)
    if ((await store.getJob(enqueued?.jobId ?? ''))?.status === 'dead') return waits
    store.elapse((retryInMs ?? 0) + 1)
  }
}

describe.each(presets)('the schedule of $name', ({ policy }) => {
  it.each(['failure', 'crash'] as const)(
    'REAP-5, FAIL-4 is what the store does after each %s',
    async (end) => {
      const shown = scheduleRetries(policy, end).map(({ waitMs }) => waitMs?.least ?? null)
      expect(shown).toEqual(await waitsInStore(policy, end))
    },
  )
})

it('FAIL-4 the range ends with all of the jitter, and waits add up', () => {
  expect(scheduleRetries(nativePolicy, 'failure')).toEqual([
    { number: 1, waitMs: { least: 5_000, most: 10_000 }, sinceFirstMs: { least: 5_000, most: 10_000 } },
    { number: 2, waitMs: { least: 10_000, most: 15_000 }, sinceFirstMs: { least: 15_000, most: 25_000 } },
    { number: 3, waitMs: null, sinceFirstMs: null },
  ])
})

it('a policy of a thousand tries is cut', () => {
  expect(scheduleRetries({ ...nativePolicy, maxAttempts: 1_000 }, 'failure')).toHaveLength(100)
})
