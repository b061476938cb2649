// Rules of the simulator's judge on made-up histories: what a worker owes its jobs, its neighbours and whoever asks it to leave.
import { beforeEach, describe, expect, it } from 'vitest'
import type { Disturbance } from '../../../chaos/src/faults/disturbances.ts'
import type { EventRow, History, LedgerLine } from '../../../chaos/src/judge/history.ts'
import { Circumstances, type Run } from '../../../sim/src/judge/circumstances.ts'
import { checkClaimedAhead } from '../../../sim/src/judge/claims/claimed-ahead.ts'
import { checkFreedSlots } from '../../../sim/src/judge/claims/freed-slots.ts'
import { checkAttemptClocks } from '../../../sim/src/judge/leases/attempt-clocks.ts'
import { checkDeadWorkers } from '../../../sim/src/judge/leases/dead-workers.ts'
import { checkFencing } from '../../../sim/src/judge/leases/fencing.ts'
import { checkRenewals } from '../../../sim/src/judge/leases/renewals.ts'
import { Departures } from '../../../sim/src/judge/leaving/departures.ts'
import { checkLeaving } from '../../../sim/src/judge/leaving/leaving.ts'
import type { Plan } from '../../../sim/src/plan/plan.ts'
import { Evidence } from '../../../sim/src/world/evidence.ts'
import { EPOCH_MS, VirtualTime } from '../../../sim/src/world/virtual-time.ts'
import type { ClaimedJob } from '../../../src/job/lease.ts'

const LEASE_MS = 10_000
/** The worker has been there for long. */
const T = EPOCH_MS + 100_000

const settings = {
  concurrency: 1,
  pollMs: [1_000, 2_000],
  hintedPollMs: null,
  graceMs: 5_000,
  hangGraceMs: 2_000,
  policy: { defaultLeaseMs: LEASE_MS, heartbeatMs: 2_500, sweepIntervalMs: 2_000, presence: 'auto' },
}

let evidence: Evidence
let run: Run
let events: EventRow[]
let ledger: LedgerLine[]
let disturbances: Disturbance[]

beforeEach(() => {
  evidence = new Evidence(new VirtualTime(() => 0))
  evidence.startedAt.set('w1', EPOCH_MS)
  const plan = { settings, limits: {} } as unknown as Plan
  run = { plan, evidence, departures: new Departures(evidence) }
  events = []
  ledger = []
  disturbances = []
})

type Check = (run: Run, history: History, circumstances: Circumstances) => Iterable<{ message: string }>

function messagesOf(check: Check): string[] {
  const history = {
    events,
    ledger,
    disturbances,
    jobs: [],
    policy: { maxCrashes: 8 },
    times: { leaseMs: LEASE_MS, sweepMs: 2_000, pollMs: 2_000 },
  } as unknown as History
  return [...check(run, history, new Circumstances(run, history))].map(({ message }) => message)
}

const event = (type: string, jobId: string, at: number, details: Record<string, unknown> = {}) =>
  void events.push({
    id: String(events.length),
    jobId,
    type,
    at,
    details: { lease_id: `l-${jobId}`, ...details },
  })
const claim = (jobId: string, at: number) => event('processing', jobId, at, { worker_id: 'w1' })
const note = (kind: string, job: string, at: number) =>
  void ledger.push({ kind, at, worker: 'w1', pid: 0, job, lease: `l-${job}` })
const disturb = (kind: string, from: number, to: number) =>
  void disturbances.push({ who: 'w1', kind, from, to })
const abort = (jobId: string, at: number, reason: string) =>
  void evidence.aborts.push({ worker: 'w1', jobId, leaseId: `l-${jobId}`, at, reason })

describe('a slot that becomes free', () => {
  const freeSlot = (claimedAfterMs: number) => {
    claim('busy', T)
    note('started', 'busy', T)
    event('queued', 'due', T + 100)
    event('complete', 'busy', T + 1_000)
    note('ended', 'busy', T + 1_000)
    claim('due', T + 1_000 + claimedAfterMs)
  }

  it('is filled at once if a job is due', () => {
    freeSlot(900)
    expect(messagesOf(checkFreedSlots)).toHaveLength(1)
  })

  it('may wait for a claim and its neighbours, and while something hinders the worker', () => {
    freeSlot(400)
    expect(messagesOf(checkFreedSlots)).toEqual([])
    freeSlot(900)
    disturb('blackhole', T, T + 1_100)
    expect(messagesOf(checkFreedSlots)).toEqual([])
  })

  it('may wait for a hint', () => {
    freeSlot(900)
    evidence.hinted.set('w1', [{ from: EPOCH_MS, to: Number.POSITIVE_INFINITY }])
    expect(messagesOf(checkFreedSlots)).toEqual([])
  })
})

describe('a job that was claimed ahead', () => {
  it('is given back after a while', () => {
    claim('ahead', T)
    event('released', 'ahead', T + 9_000)
    expect(messagesOf(checkClaimedAhead)).toHaveLength(1)
  })

  it('may be started late if a slot was free in time', () => {
    claim('ahead', T)
    note('started', 'ahead', T + 6_000)
    note('ended', 'ahead', T + 20_000)
    expect(messagesOf(checkClaimedAhead)).toEqual([])
  })
})

describe('the deadline of a stage', () => {
  beforeEach(() => {
    evidence.deadlines.set('a l-a', { worker: 'w1', claimedAt: T, at: T + 3_000 })
    note('started', 'a', T)
  })

  it.each([
    [2_000, 1],
    [2_900, 0],
    [3_400, 0],
    [3_600, 1],
  ])('is kept to: an abort after %i ms is judged', (ms, count) => {
    abort('a', T + ms, 'deadline')
    note('ended', 'a', T + ms)
    expect(messagesOf(checkAttemptClocks)).toHaveLength(count)
  })

  it('may be missed by a process that is stopped', () => {
    disturb('pause', T + 2_000, T + 9_000)
    note('ended', 'a', T + 9_000)
    expect(messagesOf(checkAttemptClocks)).toEqual([])
  })
})

describe('a handler that was told to stop', () => {
  it('loses its slot after its grace', () => {
    note('started', 'a', T)
    abort('a', T, 'cancelled')
    note('ended', 'a', T + 2_900)
    expect(messagesOf(checkAttemptClocks)).toEqual([])
    note('ended', 'a', T + 3_100)
    expect(messagesOf(checkAttemptClocks)).toHaveLength(1)
  })
})

describe('a worker that is asked to leave', () => {
  const leave = (endsAt: number) => {
    run.departures.noteStop('w1', T)
    run.departures.noteEnd('w1', endsAt)
  }

  it('leaves when its jobs have ended', () => {
    note('ended', 'a', T + 4_000)
    leave(T + 4_900)
    expect(messagesOf(checkLeaving)).toEqual([])
    leave(T + 5_100)
    expect(messagesOf(checkLeaving)).toHaveLength(1)
  })

  it('gives its jobs up after the grace', () => {
    note('ended', 'a', T + 6_100)
    leave(T + 6_200)
    expect(messagesOf(checkLeaving)).toHaveLength(1)
  })

  it('gives its jobs the grace', () => {
    leave(T + 900)
    abort('a', T + 3_900, 'shutdown')
    expect(messagesOf(checkLeaving)).toHaveLength(1)
  })

  it('claims and starts nothing', () => {
    leave(T + 900)
    run.departures.noteClaim('w1', T)
    note('started', 'a', T)
    expect(messagesOf(checkLeaving)).toEqual([])
    run.departures.noteClaim('w1', T + 1)
    note('started', 'b', T + 1)
    expect(messagesOf(checkLeaving)).toHaveLength(2)
  })

  it('may take longer if its calls are not answered, but not for ever', () => {
    disturb('blackhole', T - 1, T + 60_000)
    leave(T + 17_000)
    expect(messagesOf(checkLeaving)).toEqual([])
    leave(T + 19_000)
    expect(messagesOf(checkLeaving)).toHaveLength(1)
  })

  it('begins to leave when its next report is answered', () => {
    run.departures.noteAsked('w1', T)
    expect(messagesOf(checkLeaving)).toHaveLength(1)
    leave(T + 2_500)
    expect(messagesOf(checkLeaving)).toHaveLength(1)
    run.departures.noteAsked('w1', T - 2_000)
    expect(messagesOf(checkLeaving)).toHaveLength(1)
  })
})

describe('a lease that was taken from its worker', () => {
  const reap = () => {
    const [beatAt, leaseEnd] = [T, T + LEASE_MS].map((at) => new Date(at).toISOString())
    const details = { cause: 'crash', locked_by: 'w1', last_heartbeat_at: beatAt, lease_expires_at: leaseEnd }
    event('reaper:requeued', 'a', T + 11_000, details)
  }

  it('was at risk before, for whoever runs its job', () => {
    reap()
    note('started', 'a', T + 1)
    expect(messagesOf(checkFencing)).toHaveLength(1)
    note('at-risk', 'a', T + 9_900)
    expect(messagesOf(checkFencing)).toEqual([])
  })

  it('starts no handler after its end', () => {
    reap()
    note('started', 'a', T + 10_001)
    expect(messagesOf(checkFencing)).toHaveLength(1)
  })

  it('is not judged if the worker was stopped, or a failover undid what it had heard', () => {
    reap()
    note('started', 'a', T + 1)
    disturb('pause', T, T + 20_000)
    expect(messagesOf(checkFencing)).toEqual([])
  })

  it('was not renewable: a short fault excuses nothing', () => {
    reap()
    note('started', 'a', T + 1)
    disturb('blackhole', T + 5_000, T + 5_100)
    expect(messagesOf(checkRenewals)).toHaveLength(1)
  })

  it('was not renewable in the pauses between several faults, or in a transaction', () => {
    reap()
    note('started', 'a', T + 1)
    for (let nth = 0; nth < 5; nth++) disturb('answer-lost', T + nth * 2_200, T + nth * 2_200)
    expect(messagesOf(checkRenewals)).toEqual([])
    disturbances = []
    expect(messagesOf(checkRenewals)).toHaveLength(1)
    const tx = { jobId: 'a', leaseId: 'l-a', fence: 1, type: 'tx', deadlineMs: null }
    evidence.noteClaims('w1', [tx as ClaimedJob])
    expect(messagesOf(checkRenewals)).toEqual([])
  })

  it('was renewable beside a blocked event loop', () => {
    reap()
    note('started', 'a', T + 1)
    disturb('block', T, T + 20_000)
    expect(messagesOf(checkRenewals)).toHaveLength(1)
  })
})

describe('a worker that died', () => {
  const die = (reapedAfterMs: number) => {
    disturb('gone', T, Number.POSITIVE_INFINITY)
    const details = { cause: 'worker-gone', locked_by: 'w1' }
    event('reaper:requeued', 'a', T + reapedAfterMs, details)
  }

  it('loses its jobs within seconds if another one was there to notice it', () => {
    die(9_000)
    expect(messagesOf(checkDeadWorkers)).toEqual([])
    evidence.startedAt.set('w2', EPOCH_MS)
    expect(messagesOf(checkDeadWorkers)).toHaveLength(1)
  })

  it('may keep them for longer if its connection was slow, or it left', () => {
    evidence.startedAt.set('w2', EPOCH_MS)
    die(9_000)
    disturb('blackhole', EPOCH_MS, EPOCH_MS + 1_000)
    expect(messagesOf(checkDeadWorkers)).toEqual([])
    disturbances = []
    die(7_000)
    run.departures.noteStop('w1', T - 1)
    expect(messagesOf(checkDeadWorkers)).toEqual([])
  })
})
