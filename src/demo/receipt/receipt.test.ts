import { describe, expect, it } from 'vitest'
import { demoPolicy, promisedMs } from '../demo-settings.ts'
import type { LedgerLine } from './ledger.ts'
import { isBroken, makeReceipt, type ReceiptFacts, receiptLines } from './receipt.ts'
import type { Rescue } from './rescue.ts'

const line = (kind: LedgerLine['kind'], jobId: string, fence: number): LedgerLine => ({ kind, jobId, fence })

const rescue = (lateMs: number, leaseEndMs = 10_000): Rescue => ({
  jobId: 'b',
  workerId: 'w1:7',
  fence: 1,
  isDead: false,
  isGone: false,
  seenAtMs: leaseEndMs - demoPolicy.defaultLeaseMs,
  leaseEndMs,
  takenBackAtMs: leaseEndMs + lateMs,
})

/** A successful run with two jobs, one of them rescued once. */
const facts: ReceiptFacts = {
  ledger: [
    line('enqueued', 'a', 0),
    line('enqueued', 'b', 0),
    line('effect', 'a', 1),
    line('accepted', 'a', 1),
    line('effect', 'b', 1),
    line('effect', 'b', 2),
    line('accepted', 'b', 2),
  ],
  jobs: [
    { id: 'a', type: 'plain', status: 'succeeded', fence: 1 },
    { id: 'b', type: 'plain', status: 'succeeded', fence: 2 },
  ],
  rescues: [rescue(100)],
  outages: [],
  lateWrites: ['lease-lost'],
  handRolled: [{ status: 'processing' }, { status: 'done' }],
  workersKilled: 1,
  breakerAttempts: 0,
  promisedMs,
  stallMs: 0,
  seed: 1,
  seconds: 60,
}

const without = (gone: LedgerLine) => ({
  ...facts,
  ledger: facts.ledger.filter(
    ({ kind, jobId, fence }) => kind !== gone.kind || jobId !== gone.jobId || fence !== gone.fence,
  ),
})

describe('the receipt of the demo', () => {
  it('REAP-1 counts jobs, rescues and refused writes, and finds nothing wrong with a good run', () => {
    const receipt = makeReceipt(facts)
    expect(receipt).toMatchObject({
      jobsIn: 2,
      done: 2,
      lost: 0,
      finishedTwice: 0,
      rescues: 1,
      lateRescues: 0,
    })
    expect(receipt).toMatchObject({ effectsNotAccepted: 1, lateWritesRefused: 1, handRolledStuck: 1 })
    expect(receipt.slowestRescueMs).toBe(demoPolicy.defaultLeaseMs + 100)
    expect(isBroken(receipt)).toBe(false)
    expect(receiptLines(receipt, 'npx unstuck')[0]).toContain(
      '2 jobs in · 2 done · 0 lost · 0 finished twice',
    )
  })

  it.each<[string, Partial<ReceiptFacts>]>([
    ['whose row is gone', { jobs: facts.jobs.slice(1) }],
    ['that has not ended', { jobs: facts.jobs.map((job) => ({ ...job, status: 'waiting' as const })) }],
    ['without the effect of the attempt that was accepted', without(line('effect', 'b', 2))],
  ])('REAP-1 calls a job lost %s', (_, change) => {
    const receipt = makeReceipt({ ...facts, ...change })
    expect(receipt.lost).toBeGreaterThan(0)
    expect(isBroken(receipt)).toBe(true)
  })

  it.each<[string, Partial<ReceiptFacts>]>([
    ['two attempts were accepted', { ledger: [...facts.ledger, line('accepted', 'b', 1)] }],
    ['one was accepted twice', { ledger: [...facts.ledger, line('accepted', 'a', 1)] }],
    ['a late write was taken', { lateWrites: ['completed'] }],
  ])('LEASE-5 calls a job finished twice where %s', (_, change) => {
    const receipt = makeReceipt({ ...facts, ...change })
    expect(receipt.finishedTwice).toBe(1)
    expect(isBroken(receipt)).toBe(true)
  })

  it('LEASE-5 does not miss the line of a worker that was killed right after its completion', () => {
    expect(isBroken(makeReceipt(without(line('accepted', 'b', 2))))).toBe(false)
  })

  it('REAP-1 calls a rescue late that took longer than lease, sweep and slack, and counts no outage', () => {
    const late = promisedMs - demoPolicy.defaultLeaseMs + 1
    const broken = makeReceipt({ ...facts, rescues: [rescue(late)] })
    expect(broken.lateRescues).toBe(1)
    expect(isBroken(broken)).toBe(true)
    const outages = [{ fromMs: 9_000, toMs: 10_000 + late }]
    expect(makeReceipt({ ...facts, rescues: [rescue(late)], outages }).lateRescues).toBe(0)
    expect(makeReceipt({ ...facts, rescues: [rescue(2 * late + 1)], outages }).lateRescues).toBe(1)
  })

  it('LEASE-10 a rescue by presence lasts from the last heartbeat, whatever is left of the lease', () => {
    const gone = { ...rescue(-56_000, 70_000), isGone: true, seenAtMs: 10_000 }
    expect(makeReceipt({ ...facts, rescues: [gone] }).slowestRescueMs).toBe(4_000)
    const late = { ...gone, takenBackAtMs: 10_001 + promisedMs }
    expect(makeReceipt({ ...facts, rescues: [late] }).lateRescues).toBe(1)
  })

  it('REAP-1 adds the time in which the machine stood still to the promise, and says so', () => {
    const late = promisedMs - demoPolicy.defaultLeaseMs + 400
    const receipt = makeReceipt({ ...facts, rescues: [rescue(late)], stallMs: 500 })
    expect(receipt.lateRescues).toBe(0)
    expect(receiptLines(receipt, 'npx unstuck')[1]).toContain('stalled for up to 0.5 s')
  })

  it('SEE-5 goes on with the command by which it was called', () => {
    expect(receiptLines(makeReceipt(facts), 'node bin/unstuck.js').slice(-2)).toEqual([
      'Next:  node bin/unstuck.js scan $DATABASE_URL    # yours, read-only',
      `       node bin/unstuck.js demo --seed ${facts.seed + 1}`.padEnd(49).concat('# other workers die'),
    ])
  })

  it('FAIL-5 separates a poison job from one that was killed too often', () => {
    const dead = { status: 'dead', fence: 3 } as const
    const jobs = [
      { id: 'a', type: 'poison', ...dead },
      { id: 'b', type: 'plain', ...dead },
    ]
    expect(makeReceipt({ ...facts, jobs })).toMatchObject({ deadOnPurpose: 1, deadOtherwise: 1, lost: 0 })
  })
})
