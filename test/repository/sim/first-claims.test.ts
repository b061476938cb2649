// The judge's rules for the first claim of a worker, and for one whose listening connection is lost.
import { beforeEach, describe, expect, it } from 'vitest'
import { FirstClaims } from '../../../sim/src/judge/claims/first-claims.ts'
import { HintLosses } from '../../../sim/src/judge/hint-losses.ts'
import { Loop, VirtualTime } from '../../../sim/src/world/virtual-time.ts'

let reports: string[]
const onViolation = (message: string) => void reports.push(message)

beforeEach(() => {
  reports = []
})

describe('the first claim of a worker', () => {
  const [main, heartbeat] = [
    { owner: 'w1', kind: 'main' } as const,
    { owner: 'w1', kind: 'heartbeat' } as const,
  ]

  it('follows a sweep and the first answer to its heartbeat thread', () => {
    const claims = new FirstClaims(onViolation)
    claims.noteAnswer(main, 'sweepJobs')
    claims.noteAnswer(heartbeat, 'readPolicy')
    claims.noteClaim('w1')
    expect(reports).toEqual([])
    claims.noteClaim('w2')
    expect(reports).toEqual(['w2 claims before its first sweep', 'w2 claims before its heartbeats are ready'])
  })

  it('does not wait for a table that cannot be swept', () => {
    const claims = new FirstClaims(onViolation)
    claims.noteFailure('w1', 'sweepJobs')
    claims.noteAnswer(heartbeat, 'readPolicy')
    claims.noteClaim('w1')
    expect(reports).toEqual([])
  })
})

describe('a worker whose listening connection is lost', () => {
  const lose = async (trusts: boolean, isLeaving = false) => {
    const time = new VirtualTime(() => 0)
    const evidence = { hearsHintsSince: () => trusts }
    const losses = new HintLosses({ time, evidence, departures: { has: () => isLeaving } }, onViolation)
    losses.noteLoss({ name: 'w1', main: new Loop('w1') })
    await time.runUntil(1_000, () => false)
    return reports.length
  }

  it('may not trust hints, unless it leaves', async () => {
    expect(await lose(false)).toBe(0)
    expect(await lose(true, true)).toBe(0)
    expect(await lose(true)).toBe(1)
  })
})
