// The judge's rule for a worker that cannot extend its leases, or hears that one is lost.
import { beforeEach, describe, expect, it } from 'vitest'
import { SelfFence } from '../../../sim/src/judge/leases/self-fence.ts'
import type { SimWorker } from '../../../sim/src/world/sim-worker.ts'
import { Loop, VirtualTime } from '../../../sim/src/world/virtual-time.ts'

let time: VirtualTime
let reports: string[]
let isRunning: boolean
let fence: SelfFence

beforeEach(() => {
  time = new VirtualTime(() => 0)
  reports = []
  isRunning = true
  const onViolation = (message: string) => reports.push(message)
  fence = new SelfFence({ time, heartbeatMs: 500, isRunning: () => isRunning, onViolation })
})

describe('a worker whose heartbeats fail', () => {
  it('may not claim again, but for a claim that was under way', () => {
    fence.noteClaim('w1')
    fence.noteFailing('w1', true)
    for (let nth = 0; nth < 2; nth++) fence.noteClaim('w1')
    fence.noteFailing('w1', false)
    fence.noteClaim('w1')
    expect(reports).toEqual([])
    fence.noteFailing('w1', true)
    for (let nth = 0; nth < 3; nth++) fence.noteClaim('w1')
    expect(reports).toEqual(['w1 claims, and its heartbeats fail'])
  })
})

describe('a worker that hears that a lease is lost', () => {
  const lease = { jobId: 'a', leaseId: 'l' }
  const worker = { name: 'w1', isOver: false, main: new Loop('w1') } as SimWorker
  const hear = async (answer: 'lost' | 'kept' = 'lost') => {
    fence.noteAnswers(worker, [{ ...lease, answer }])
    await time.runUntil(60_000, () => false)
  }

  it('stops its handler', async () => {
    await hear()
    expect(reports).toHaveLength(1)
    fence.noteAborted(lease)
    await hear()
    expect(reports).toHaveLength(1)
  })

  it('has no handler to stop if that has returned, and nothing to stop for if the lease is kept', async () => {
    await hear('kept')
    isRunning = false
    await hear()
    expect(reports).toEqual([])
  })

  it('does so once its event loop is free', async () => {
    const main = Object.assign(new Loop('w2'), { blockedUntilMs: time.nowMs + 10_000 })
    const blocked = { name: 'w2', isOver: false, main } as SimWorker
    const other = { jobId: 'b', leaseId: 'l' }
    time.after(10_500, null, () => fence.noteAborted(other))
    fence.noteAnswers(blocked, [{ ...other, answer: 'lost' }])
    await time.runUntil(time.nowMs + 60_000, () => false)
    expect(reports).toEqual([])
  })
})
