import { describe, expect, it } from 'vitest'
import { openBreaker, runnableJob } from '../../../test/support/job-facts.ts'
import { explainJob } from './explain-job.ts'
import type { HoldingBreaker, JobFacts } from './job-facts.ts'

const halfOpen: HoldingBreaker = { ...openBreaker, state: 'half-open', nextProbeInMs: 0, probing: 1 }

const overdue: Partial<JobFacts> = { status: 'running', runInMs: null, workerId: 'w', leaseLeftMs: -1_000 }

function actsOf(facts: Partial<JobFacts>): Record<string, string[]> {
  const { reasons } = explainJob({ ...runnableJob, ...facts })
  return Object.fromEntries(
    reasons.map(({ code, remedies = [] }) => [code, remedies.map(({ command }) => command)]),
  )
}

describe('the remedy of a cause', () => {
  it('SEE-8 is a command that can be pasted, for every cause that an operator can end', () => {
    const pause = { by: 'ana', reason: null, sinceMs: 1, leftMs: null }
    const busy = { live: 1, handling: 1, slots: 2, busy: 2, elsewhere: 0, lastSeenMs: 0 }
    const lockedBy = { pid: 8123, application: 'psql', state: 'idle in transaction', openMs: 1 }
    expect(actsOf({ pause, queue: "it's" })).toEqual({
      QUEUE_PAUSED: [`unstuck queues resume 'it'\\''s' --reason …`],
    })
    expect(actsOf({ breaker: { ...halfOpen, state: 'open' } })).toEqual({
      BREAKER_OPEN: ['unstuck breaker resume gateway --reason …'],
    })
    expect(actsOf({ workers: busy })).toEqual({ ALL_SLOTS_BUSY: ['unstuck worker handlers.js'] })
    expect(actsOf({ workers: { ...busy, handling: 0, slots: 0, busy: 0 } })).toEqual({
      NO_WORKER_FOR_TYPE: ['unstuck worker handlers.js', 'unstuck jobs cancel job-1 --reason …'],
    })
    expect(actsOf({ isLocked: true, lockedBy })).toEqual({
      ROW_LOCKED: ["psql -c 'select pg_terminate_backend(8123)'"],
    })
    expect(actsOf({ runInMs: 5_000 })).toEqual({
      SCHEDULED: ['unstuck jobs retry job-1 --now --reason …', 'unstuck jobs cancel job-1 --reason …'],
    })
    expect(actsOf({ status: 'dead' })).toEqual({
      DEAD_MAX_ATTEMPTS: [
        'unstuck jobs retry job-1 --reason …',
        'unstuck jobs retry job-1 --keep-attempts --reason …',
      ],
    })
    expect(actsOf({ ...overdue, reaperAgeMs: null })).toEqual({
      LEASE_OVER_AWAITING_REAPER: ['unstuck reap --once'],
      NO_REAPER: ['unstuck reaper'],
    })
  })

  it('SEE-8 a worker that goes on past a deadline is drained, and one that is gone is not', () => {
    const past = { ...overdue, workerId: 'alpha 1', deadlineLeftMs: -1_000 }
    expect(actsOf(past)).toEqual({
      LEASE_OVER_AWAITING_REAPER: ['unstuck reap --once', "unstuck workers drain 'alpha 1' --reason …"],
    })
    expect(actsOf({ ...past, absence: { sinceMs: 1, graceLeftMs: null } })).toEqual({
      LEASE_OVER_AWAITING_REAPER: ['unstuck reap --once'],
    })
  })

  it('SEE-8 a sweep is not offered where it would change nothing', () => {
    expect(actsOf({ ...overdue, isObserved: true })).toEqual({
      LEASE_OVER_AWAITING_REAPER: [],
      OBSERVED: ['unstuck mode reap'],
    })
    expect(actsOf({ ...overdue, isLocked: true })).toEqual({
      LEASE_OVER_AWAITING_REAPER: [],
      ROW_LOCKED: [],
    })
  })
})

describe('an explanation', () => {
  it('SEE-7 a half-open breaker whose jobs report no call is not said to resume', () => {
    const heard = explainJob({ ...runnableJob, breaker: halfOpen })
    expect(heard).toMatchObject({
      runsInMs: null,
      sentence: 'It waits for the jobs that test its dependency.',
      reasons: [{ code: 'BREAKER_PROBING', untilMs: null }],
    })
    const unheard = explainJob({ ...runnableJob, breaker: { ...halfOpen, unheard: 3, probing: 0 } })
    expect(unheard.reasons).toMatchObject([
      { code: 'RUNNABLE' },
      {
        code: 'BREAKER_UNHEARD',
        message:
          'gateway stays half-open: its last 3 jobs reported no call; name it as the dependency of the handler, or close it',
      },
    ])
  })

  it('SEE-7 after a backoff a job still waits for its turn', () => {
    const { sentence, runsInMs } = explainJob({ ...runnableJob, runInMs: 5_000, ahead: 454 })
    expect(sentence).toBe(
      'Will run at the earliest in 5 s. Then it starts when a slot is free after 454 jobs of asr.',
    )
    expect(runsInMs).toBeNull()
  })

  it('SEE-8 names who cancelled a job, and why', () => {
    const cancel = { by: 'ana', reason: 'wrong bucket', agoMs: 60_000 }
    expect(explainJob({ ...runnableJob, status: 'cancelled', cancel, endedAgoMs: 60_000 })).toMatchObject({
      sentence: 'It was cancelled by ana and will not run.',
      reasons: [{ message: 'cancelled 60 s ago by ana: wrong bucket' }],
    })
    const asked = explainJob({ ...runnableJob, ...overdue, leaseLeftMs: 9_000, isCancelAsked: true, cancel })
    expect(asked.reasons).toMatchObject([
      { code: 'LEASED' },
      {
        message:
          'cancelled by ana: wrong bucket; the worker stops it at its next heartbeat, or sooner if a hint arrives',
      },
    ])
  })
})
