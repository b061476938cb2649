import { describe, expect, it } from 'vitest'
import { openBreaker as open, runnableJob } from '../../../test/support/job-facts.ts'
import { explainJob } from './explain-job.ts'
import type { JobFacts } from './job-facts.ts'

const running: Partial<JobFacts> = {
  status: 'running',
  runInMs: null,
  ahead: null,
  workerId: 'host:7',
  leaseLeftMs: 11_000,
  silentMs: 4_000,
}

const explain = (facts: Partial<JobFacts> = {}) => explainJob({ ...runnableJob, ...facts })
const codes = (facts: Partial<JobFacts>) => explain(facts).reasons.map(({ code }) => code)

describe('a waiting job', () => {
  it('OPS-9 with nothing in its way runs next', () => {
    expect(explain()).toMatchObject({
      verdict: 'runnable',
      runsInMs: 0,
      reasons: [{ code: 'RUNNABLE', isBlocking: false }],
    })
  })

  it('SEE-7 behind others is runnable, and its start is unknown', () => {
    expect(explain({ ahead: 41 })).toMatchObject({
      verdict: 'runnable',
      runsInMs: null,
      sentence: 'It waits for 41 jobs of asr before it.',
    })
    expect(explain({ ahead: 41 }).reasons[1]).toMatchObject({
      code: 'AHEAD_IN_QUEUE',
      message: '41 jobs of asr before it',
    })
    expect(explain({ ahead: 1000 }).reasons[1]?.message).toBe('1000 jobs or more of asr before it')
  })

  const workers = { live: 6, handling: 2, slots: 8, busy: 3, elsewhere: 0, lastSeenMs: 1_000 }

  it('OPS-9 that no live worker handles waits for one, and the last one is named where there was one', () => {
    expect(explain({ workers })).toMatchObject({ verdict: 'runnable' })
    const missing = explain({
      workers: { ...workers, handling: 0, slots: 0, busy: 0, lastSeenMs: 10_800_000 },
    })
    expect(missing).toMatchObject({
      verdict: 'blocked',
      runsInMs: null,
      sentence: 'It waits for a worker that handles it: start one.',
      reasons: [
        { code: 'NO_WORKER_FOR_TYPE', message: 'none of 6 live workers handles asr, last seen 3 h ago' },
      ],
    })
    const never = { live: 0, handling: 0, slots: 0, busy: 0, elsewhere: 0, lastSeenMs: null }
    expect(explain({ workers: never }).reasons).toMatchObject([
      { message: 'no worker is live, and none ever handled asr' },
    ])
  })

  it('SEE-7 whose workers claim from other queues only never runs, and says which queue they leave out', () => {
    const elsewhere = { ...workers, handling: 0, slots: 0, busy: 0, elsewhere: 2, lastSeenMs: null }
    expect(explain({ queue: 'mail', workers: elsewhere })).toMatchObject({
      verdict: 'blocked',
      runsInMs: null,
      reasons: [
        {
          code: 'NO_WORKER_FOR_TYPE',
          message: '2 live workers handle asr, but none claims from queue mail',
          remedies: [
            { effect: 'Adds slots for asr. handlers.js must handle it in queue mail.' },
            { act: 'cancel' },
          ],
        },
      ],
    })
  })

  it('SEE-7 whose workers are all busy is runnable, and never said to run at once', () => {
    const busy = explain({ workers: { ...workers, busy: 8 }, ahead: 41 })
    expect(busy).toMatchObject({
      verdict: 'runnable',
      runsInMs: null,
      sentence: 'It waits for 41 jobs of asr before it, and no slot is free: 8 of 8 slots busy.',
    })
    expect(busy.reasons.map(({ code, message }) => [code, message])).toEqual([
      ['ALL_SLOTS_BUSY', '8 of 8 slots busy'],
      ['AHEAD_IN_QUEUE', '41 jobs of asr before it'],
    ])
    expect(
      codes({
        workers: { ...workers, busy: 8 },
        pause: { by: null, reason: null, sinceMs: 1, leftMs: null },
      }),
    ).toEqual(['QUEUE_PAUSED', 'ALL_SLOTS_BUSY'])
  })

  it('OPS-9 runs when the last of what holds it back is over', () => {
    const held = explain({ runInMs: 30_000, attempt: 2, breaker: open })
    expect(held).toMatchObject({ verdict: 'blocked', runsInMs: 30_000 })
    expect(held.reasons.map(({ code, untilMs }) => [code, untilMs])).toEqual([
      ['BREAKER_OPEN', 9_000],
      ['BACKOFF', 30_000],
    ])
    expect(held.sentence).toBe('Will run at the earliest in 30 s. Nothing for you to do.')
  })

  it('OPS-9 in backoff says what put it there', () => {
    const wait = { runInMs: 30_000, attempt: 2 }
    const reaped = { type: 'reaper:requeued', agoMs: 10_000, details: { locked_by: 'host:7' } }
    expect(explain({ ...wait, lastEvent: reaped }).reasons[0]?.message).toBe(
      'for 30 s more — requeued 10 s ago from worker host:7',
    )
    const gone = { ...reaped, details: { locked_by: 'host:7', cause: 'worker-gone' } }
    expect(explain({ ...wait, lastEvent: gone }).reasons[0]?.message).toBe(
      'for 30 s more — its worker host:7 ended; requeued 10 s ago',
    )
    const error = { code: 'GW_5XX', reason: 'bad', category: null }
    expect(explain({ ...wait, error }).reasons[0]?.message).toBe(
      'for 30 s more — its last attempt failed with GW_5XX',
    )
    const released = { type: 'released', agoMs: 1_000, details: {} }
    expect(explain({ ...wait, attempt: 0, lastEvent: released }).reasons[0]?.message).toBe(
      'for 30 s more — released 1 s ago',
    )
    expect(codes({ ...wait, attempt: 0, releases: 1 })).toEqual(['BACKOFF'])
  })

  it('RATE-6 that something keeps sending back says how often, and what did it last', () => {
    const lastEvent = { type: 'released', agoMs: 1_000, details: { reason: 'the gateway answered 429' } }
    const often = { attempt: 0, releases: 23, isReleasedOften: true, lastEvent }
    expect(explain({ ...often, runInMs: 30_000 })).toMatchObject({
      runsInMs: 30_000,
      reasons: [
        { code: 'BACKOFF', message: 'for 30 s more — released 1 s ago: the gateway answered 429' },
        {
          code: 'RELEASED_OFTEN',
          isBlocking: false,
          message: '23 times, without spending an attempt: its waits double, up to 1 h',
        },
      ],
    })
    expect(explain(often)).toMatchObject({
      verdict: 'runnable',
      reasons: [{ code: 'RUNNABLE' }, { code: 'RELEASED_OFTEN' }],
      sentence: 'The next free worker takes it.',
    })
  })

  it('OPS-9 that was asked for later is scheduled, not in backoff', () => {
    expect(codes({ runInMs: 30_000 })).toEqual(['SCHEDULED'])
  })

  it('OPS-9 in a paused queue waits for its end, or for somebody', () => {
    const pause = { by: 'ana', reason: 'deploy', sinceMs: 720_000, leftMs: 60_000 }
    expect(explain({ pause })).toMatchObject({
      runsInMs: 60_000,
      reasons: [{ code: 'QUEUE_PAUSED', message: 'asr, 12 min ago by ana: deploy; ends in 60 s' }],
    })
    expect(explain({ pause: { ...pause, leftMs: null } })).toMatchObject({
      runsInMs: null,
      sentence: 'It waits until an operator resumes it.',
    })
  })

  it('BREAK-2 behind a held breaker names who holds it', () => {
    const breaker = { ...open, state: 'held', by: 'ana', reason: 'vendor asked' } as const
    expect(explain({ breaker }).reasons).toMatchObject([
      { code: 'BREAKER_HELD', message: 'gateway, 90 s ago by ana: vendor asked', untilMs: null },
    ])
  })

  it('BREAK-3 behind a half-open breaker waits only where its slots are taken', () => {
    expect(codes({ breaker: { ...open, state: 'half-open' } })).toEqual(['RUNNABLE'])
    expect(codes({ breaker: { ...open, state: 'half-open', probing: 1 } })).toEqual(['BREAKER_PROBING'])
    expect(codes({ breaker: { ...open, state: 'closed' } })).toEqual(['RUNNABLE'])
  })

  it('REAP-15 with one crash left waits for a worker that runs nothing else, and says who makes room', () => {
    const last = { ...runnableJob, crashes: 2, isLastChance: true }
    const { verdict, reasons, sentence } = explainJob(last)
    expect(verdict).toBe('runnable')
    expect(reasons).toContainEqual({
      remedies: [],
      code: 'LAST_CHANCE',
      isBlocking: false,
      message: 'its workers crashed 2 times, and one more crash ends it: it runs alone',
      untilMs: null,
    })
    expect(sentence).toBe('It waits for a worker that runs nothing else.')
    const kept = explainJob({ ...last, keptWorkerId: 'host:7' }).reasons.map(({ message }) => message)
    expect(kept.join()).toContain('host:7 takes no other jobs until it can run it')
  })

  it('C10 without budget is ended by the next claim', () => {
    const spent = explain({ hasBudget: false, attempt: 3, maxAttempts: 3, failures: 3, crashes: 1 })
    expect(spent.reasons).toMatchObject([
      { code: 'BUDGET_SPENT', message: 'no attempt left: attempt 3, maximum 3, 3 failures, 1 crash' },
    ])
    expect(spent.runsInMs).toBeNull()
    expect(spent.sentence).toBe('The next claim ends it as dead; retry it then.')
  })

  it('C13 whose row is locked names the session where it is known', () => {
    const lockedBy = { pid: 8123, application: 'psql', state: 'idle in transaction', openMs: 840_000 }
    expect(explain({ isLocked: true, lockedBy }).reasons).toMatchObject([
      { code: 'ROW_LOCKED', message: 'by pid 8123 (psql, idle in transaction, open for 14 min)' },
    ])
    expect(explain({ isLocked: true }).reasons[0]?.message).toBe(
      'another transaction holds a lock on its row',
    )
    expect(codes({ isLocked: null })).toEqual(['RUNNABLE'])
  })
})

describe('a running job', () => {
  it('LEASE-2 shows its worker, lease and heartbeat', () => {
    expect(explain(running)).toMatchObject({
      verdict: 'running',
      reasons: [{ code: 'LEASED', message: 'on host:7, lease 11 s left, heartbeat 4 s ago' }],
    })
  })

  it('LEASE-10 whose worker has lost its lock says since when, and when it is requeued', () => {
    const absent = explain({ ...running, absence: { sinceMs: 1_230, graceLeftMs: 770 } })
    expect(absent).toMatchObject({
      verdict: 'running',
      sentence: 'A sweep requeues it in about 1.8 s, unless its worker returns.',
      reasons: [
        {
          code: 'WORKER_ABSENT',
          message:
            'its worker host:7 ended, or lost its connection, 1.2 s ago; unless it returns, the job is requeued in about 1.8 s',
          untilMs: 1_770,
        },
      ],
    })
    const gone = explain({ ...running, absence: { sinceMs: 2_400, graceLeftMs: null } })
    expect(gone).toMatchObject({
      verdict: 'overdue',
      sentence: 'A sweep requeues it in about 1.0 s.',
      reasons: [
        {
          code: 'WORKER_GONE',
          message: 'its worker host:7 ended 2.4 s ago; the job is requeued in about 1.0 s',
        },
      ],
    })
  })

  it('LEASE-10 C11 whose worker is gone with nobody to sweep says that', () => {
    const absence = { sinceMs: 2_400, graceLeftMs: null }
    const unswept = explain({ ...running, absence, reaperAgeMs: null })
    expect(unswept.reasons.map(({ code }) => code)).toEqual(['WORKER_GONE', 'NO_REAPER'])
    expect(unswept.sentence).toBe('No sweep requeues it: no reaper runs.')
    expect(codes({ ...running, absence, isObserved: true })).toEqual(['WORKER_GONE', 'OBSERVED'])
  })

  it('REAP-1 past its lease waits for the next sweep', () => {
    const late = explain({ ...running, leaseLeftMs: -4_000, silentMs: 19_000 })
    expect(late).toMatchObject({ verdict: 'overdue', sentence: 'A sweep requeues it within 59 s.' })
    expect(late.reasons).toMatchObject([
      { code: 'LEASE_OVER_AWAITING_REAPER', message: 'host:7 is past its lease by 4 s, silent for 19 s' },
    ])
  })

  it('SEE-7 past its lease promises no sweep that would leave it', () => {
    const late = { ...running, leaseLeftMs: -4_000 }
    expect(explain({ ...late, heldForMs: 50_000, sweepIntervalMs: 10_000 })).toMatchObject({
      sentence: 'A sweep requeues it within 50 s, unless its worker reconnects.',
      reasons: [
        { code: 'LEASE_OVER_AWAITING_REAPER', untilMs: 50_000, remedies: [] },
        {
          code: 'HELD',
          message:
            'its lease expired while the database was unreachable: its worker may reconnect for 50 s more',
        },
      ],
    })
    expect(explain({ ...late, isLocked: true })).toMatchObject({
      sentence: 'Sweeps skip it until the transaction that holds a lock on its row has ended.',
      reasons: [{ code: 'LEASE_OVER_AWAITING_REAPER', untilMs: null }, { code: 'ROW_LOCKED' }],
    })
    expect(explain({ ...late, isCancelAsked: true }).sentence).toBe('A sweep cancels it within 59 s.')
  })

  it('LEASE-8 past its deadline says so', () => {
    const late = explain({ ...running, leaseLeftMs: -4_000, deadlineLeftMs: -4_000 })
    expect(late.reasons[0]?.message).toContain('past its deadline by 4 s')
  })

  it('C11 past its lease with no reaper names that', () => {
    for (const reaperAgeMs of [null, 181_000])
      expect(codes({ ...running, leaseLeftMs: -4_000, reaperAgeMs })).toEqual([
        'LEASE_OVER_AWAITING_REAPER',
        'NO_REAPER',
      ])
  })

  it('REAP-8 without a lease or a time is left to people', () => {
    expect(explain({ ...running, leaseLeftMs: null })).toMatchObject({
      verdict: 'overdue',
      reasons: [{ code: 'LEASE_UNKNOWN' }],
    })
  })

  it('REAP-8 without a lease it says whether the age rule is off, and what that goes by', () => {
    const facts = { ...runnableJob, ...running, leaseLeftMs: null }
    const columns = ['locked_at', 'updated_at']
    const off = explainJob(facts, { isOn: false, columns })
    expect(off.reasons[0]?.message).toMatch(/without a lease, and legacyAgeRule is off$/)
    expect(off.sentence).toBe(
      'No sweep touches it: policy: { legacyAgeRule: true } in the config file reaps such rows by the age of locked_at, updated_at.',
    )
    const on = explainJob(facts, { isOn: true, columns })
    expect(on.reasons[0]?.message).toMatch(/locked_at, updated_at are empty, or its stage has no lease/)
    expect(on.sentence).toBe('No sweep touches it: inspect it manually.')
  })
})

describe('an ended job', () => {
  const error = { code: 'X', reason: 'bad input', category: null }

  it('OPS-9 says how it ended', () => {
    expect(explain({ status: 'succeeded', endedAgoMs: 5_000 }).reasons).toMatchObject([
      { code: 'SUCCEEDED', message: 'succeeded 5 s ago' },
    ])
    expect(codes({ status: 'cancelled', error })).toEqual(['CANCELLED'])
    expect(explain({ status: 'dead', error, attempt: 3, failures: 3 }).reasons).toMatchObject([
      { code: 'DEAD_MAX_ATTEMPTS', message: 'ended with attempt 3, maximum 10, 3 failures — X: bad input' },
    ])
    for (const category of ['PERMANENT', 'CRITICAL'] as const)
      expect(codes({ status: 'dead', error: { ...error, category } })).toEqual([`DEAD_${category}`])
  })

  it('OPS-9 never runs by itself', () => {
    for (const status of ['succeeded', 'dead', 'cancelled'] as const)
      expect(explain({ status })).toMatchObject({ verdict: 'ended', runsInMs: null })
  })
})
