import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { propertyRuns } from '../../../test/support/vitest/property-runs.ts'
import { type Lease, leaseKey } from '../../job/lease.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { type Heartbeat, startMainHeartbeat } from './heartbeat.ts'

const INTERVAL_MS = 1_000

/** A memory store whose beats take as long as the scheduler says, and may fail. */
async function start(scheduler: fc.Scheduler, isFailing: (beat: number) => boolean) {
  const store = createMemoryStore({ now: () => Date.now() })
  await store.enqueueJobs(Array.from({ length: 4 }, () => ({ type: 'encode' })))
  const leases = await store.claimJobs({ workerId: 'w1', queues: ['encode'], limit: 4 })
  const underWay = new Set<string>()
  let beats = 0
  const heartbeat = startMainHeartbeat({
    store: {
      ...store,
      heartbeatJobs: async (sent, options) => {
        // One at a time: a slow server is not sent more.
        expect(underWay.size).toBe(0)
        for (const lease of sent) underWay.add(leaseKey(lease))
        const beat = beats++
        await scheduler.schedule(Promise.resolve(), `beat ${beat}`)
        underWay.clear()
        if (isFailing(beat)) throw new Error('the connection is gone')
        return store.heartbeatJobs(sent, options)
      },
    },
    intervalMs: INTERVAL_MS,
    policy: {},
    events: { onBeat: () => {}, onFailed: () => {}, onRecovered: () => {}, onLag: () => {} },
  })
  return { heartbeat, leases, underWay }
}

describe('heartbeats, whatever the order in which they are answered', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const steps = fc.array(fc.constantFrom<Step>('tick', 'answer', 'hold', 'hand-over'), {
    minLength: 5,
    maxLength: 30,
  })

  it('LEASE-4 WORK-5 a lease that was let go is in no beat, and its answers go nowhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), steps, fc.func(fc.boolean()), async (scheduler, plan, isFailing) => {
        const { heartbeat, leases, underWay } = await start(scheduler, isFailing)
        const held = new Set<string>()
        const handingOver: Promise<void>[] = []
        let nth = 0
        for (const step of plan) {
          const lease = leases[nth++ % leases.length]
          if (lease === undefined) throw new Error('no lease')
          if (step === 'hold') hold(heartbeat, lease, held)
          else if (step === 'hand-over') {
            held.delete(leaseKey(lease))
            const check = () => {
              if (!held.has(leaseKey(lease))) expect(underWay.has(leaseKey(lease))).toBe(false)
            }
            handingOver.push(heartbeat.handOver(lease, 60_000).then(check, check))
          } else await pass(scheduler, step)
        }
        await finish(scheduler, heartbeat, handingOver)
      }),
      propertyRuns(),
    )
  })

  it('LEASE-4 a lease that is held is kept again as soon as beats get through', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), steps, fc.func(fc.boolean()), async (scheduler, plan, isFailing) => {
        let hasHealed = false
        const { heartbeat, leases } = await start(scheduler, (beat) => !hasHealed && isFailing(beat))
        const kept = new Set<string>()
        for (const lease of leases)
          heartbeat.hold(lease, {
            onAnswer: (answer) => void (answer === 'kept' && kept.add(leaseKey(lease))),
          })
        for (const step of plan) if (step === 'tick' || step === 'answer') await pass(scheduler, step)
        hasHealed = true
        await pass(scheduler, 'answer')
        kept.clear()
        await pass(scheduler, 'tick')
        await pass(scheduler, 'answer')
        expect(kept.size).toBe(leases.length)
        expect(heartbeat.isHealthy()).toBe(true)
        await finish(scheduler, heartbeat, [])
      }),
      propertyRuns(),
    )
  })
})

type Step = 'tick' | 'answer' | 'hold' | 'hand-over'

function hold(heartbeat: Heartbeat, lease: Lease, held: Set<string>): void {
  held.add(leaseKey(lease))
  heartbeat.hold(lease, { onAnswer: () => expect(held.has(leaseKey(lease))).toBe(true) })
}

async function pass(scheduler: fc.Scheduler, step: Step): Promise<void> {
  if (step === 'tick') await vi.advanceTimersByTimeAsync(INTERVAL_MS)
  else if (scheduler.count() > 0) await scheduler.waitNext(1)
  await vi.advanceTimersByTimeAsync(0)
}

async function finish(scheduler: fc.Scheduler, heartbeat: Heartbeat, others: Promise<void>[]): Promise<void> {
  const stopped = heartbeat.stop()
  await scheduler.waitFor(Promise.all([stopped, ...others]))
}
