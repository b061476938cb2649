// Hints of the simulated server, and the judge's rule for jobs that wait although a worker is idle.
import { beforeEach, describe, expect, it } from 'vitest'
import type { EventRow, History } from '../../../chaos/src/judge/history.ts'
import { hintOf } from '../../../sim/src/database/hints.ts'
import { checkPickups } from '../../../sim/src/judge/claims/pickups.ts'
import { Slots } from '../../../sim/src/judge/claims/slots.ts'
import { Departures } from '../../../sim/src/judge/leaving/departures.ts'
import { drawPlan, type Plan } from '../../../sim/src/plan/plan.ts'
import { runPlan } from '../../../sim/src/run-seed.ts'
import { Evidence } from '../../../sim/src/world/evidence.ts'
import { EPOCH_MS, VirtualTime } from '../../../sim/src/world/virtual-time.ts'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import { readCancels, readHints } from '../../../src/policy/wake/read-hints.ts'
import { leaseNumber } from '../../../src/runtime/heartbeat/lease-number.ts'
import { emptyRow } from '../../../src/store/memory/state/new-job.ts'

const NOW = EPOCH_MS + 100_000

describe('what a commit announces', () => {
  const row = { ...emptyRow('a', new Date(NOW)), queue: 'asr' }
  const read = (verb: string, args: unknown[], answer: unknown, job: object = row) => {
    const after = { jobOf: () => ({ ...row, ...job }), nowMs: NOW, seed: 7 }
    return hintOf({ verb, args, answer }, after)
  }

  it('is the queue and the number of new jobs', () => {
    const hint = read('enqueueJobs', [[{ type: 'asr' }, { type: 'asr' }, { type: 'b', queue: 'clip' }]], [])
    expect(readHints(hint ?? '')).toEqual([
      { queue: 'asr', count: 2, dueInMs: 0, seed: 7 },
      { queue: 'clip', count: 1, dueInMs: 0, seed: 7 },
    ])
  })

  it('is the delay of a requeued job, rounded up to tenths of a second, if it is due soon', () => {
    const fail = (inMs: number, status = 'waiting') =>
      read('failJobs', [[{ jobId: 'a', leaseId: 'l' }]], [], { status, runAt: new Date(NOW + inMs) })
    expect(readHints(fail(1_201) ?? '')).toMatchObject([{ queue: 'asr', dueInMs: 1_300 }])
    expect(fail(700_000)).toBeNull()
    expect(fail(0, 'dead')).toBeNull()
  })

  it('names a cancelled job that runs by the number of its lease, and nothing for a claim', () => {
    const asked = { status: 'running', leaseId: 'l', cancelRequestedAt: new Date(NOW) }
    expect(readCancels(read('cancelJobs', [['a']], [], asked) ?? '')).toEqual([leaseNumber('l')])
    expect(read('cancelJobs', [['a']], [], { status: 'cancelled' })).toBeNull()
    expect(read('claimJobs', [{}], [])).toBeNull()
  })
})

describe('a job that is due', () => {
  const CLAIM_MS = 3_000
  let evidence: Evidence
  let plan: Plan

  beforeEach(() => {
    const time = new VirtualTime(() => 0)
    evidence = new Evidence(time)
    evidence.noteWorker('w1')
    evidence.noteHints('w1', true)
    const { settings, ...drawn } = drawPlan(3)
    plan = {
      ...drawn,
      limits: {},
      settings: { ...settings, concurrency: 1, pollMs: [200, 400], hintedPollMs: [1_000, 2_000] },
    }
  })

  const event = (id: number, jobId: string, type: string, afterMs: number, details = {}): EventRow => ({
    id: String(id),
    jobId,
    type,
    at: NOW + afterMs,
    details,
  })
  const claim = (id: number, jobId: string, afterMs: number) =>
    event(id, jobId, 'processing', afterMs, { worker_id: 'w1', lease_id: `l${id}`, fence: 1 })
  const judged = (events: EventRow[], change: Partial<History> = {}) => {
    const history = {
      policy: plan.settings.policy,
      times: { leaseMs: 2_000, sweepMs: 1_000, pollMs: 400 },
      jobs: [],
      events,
      ledger: [],
      disturbances: [],
      ...change,
    } as unknown as History
    return [...checkPickups({ plan, evidence, departures: new Departures(evidence) }, history)]
  }

  it('may not wait for longer than a hint takes, if a worker that hears hints is idle', () => {
    expect(judged([event(1, 'a', 'queued', 0), claim(2, 'a', CLAIM_MS)])).toMatchObject([
      { invariant: 'pickup' },
    ])
    expect(judged([event(1, 'a', 'queued', 0), claim(2, 'a', 1_000)])).toEqual([])
  })

  it('may wait for a poll if hints are lost, and is due with its backoff', () => {
    const lost = { who: '*', kind: 'hints-lost', from: NOW - 10, to: NOW + 10 }
    const late = [event(1, 'a', 'queued', 0), claim(2, 'a', 2_300)]
    expect(judged(late, { disturbances: [lost] })).toEqual([])
    expect(judged(late)).toHaveLength(1)
    const next_run_at = new Date(NOW + CLAIM_MS - 100).toISOString()
    expect(judged([event(1, 'a', 'retry', 0, { next_run_at }), claim(2, 'a', CLAIM_MS)])).toEqual([])
  })

  it('may wait if the worker is busy, hindered or leaves', () => {
    const busy = [claim(1, 'b', -5_000), event(2, 'a', 'queued', 0), claim(3, 'a', CLAIM_MS)]
    expect(judged(busy)).toEqual([])
    const cut = { who: 'w1', kind: 'blackhole', from: NOW, to: NOW + 10 }
    const late = [event(1, 'a', 'queued', 0), claim(2, 'a', CLAIM_MS)]
    expect(judged(late, { disturbances: [cut] })).toEqual([])
    const departures = new Departures(evidence)
    departures.noteStop('w1', NOW + 10)
    const history = {
      times: { leaseMs: 2_000 },
      policy: plan.settings.policy,
      jobs: [],
      events: late,
      ledger: [],
      disturbances: [],
    }
    expect([...checkPickups({ plan, evidence, departures }, history as unknown as History)]).toEqual([])
  })

  it('may wait while a handler blocks the event loop, also one whose job a failover undid', () => {
    plan = { ...plan, settings: { ...plan.settings, concurrency: 2 } }
    const late = [event(1, 'a', 'queued', 0), claim(2, 'a', CLAIM_MS)]
    const ledger = [{ kind: 'started', worker: 'w1', job: 'b', lease: 'l', at: NOW - 5_000, pid: 0 }]
    expect(judged(late, { ledger })).toHaveLength(1)
    evidence.noteClaims('w1', [
      { jobId: 'b', leaseId: 'l', fence: 1, type: 'block', deadlineMs: null } as ClaimedJob,
    ])
    expect(judged(late, { ledger })).toEqual([])
  })
})

describe('the slots of a worker', () => {
  it('are not more than it has; a handler that has returned keeps none', () => {
    const reports: string[] = []
    const slots = new Slots(1, (message) => reports.push(message))
    slots.noteStart('w1', 'a')
    slots.noteStart('w2', 'b')
    slots.noteEnd('w1', 'a')
    slots.noteStart('w1', 'c')
    expect(reports).toEqual([])
    slots.noteStart('w1', 'd')
    expect(reports).toEqual(['w1 runs 2 handlers, and has 1 slots'])
  })
})

it('a worker that no hint reaches polls, and is heard of again once notifications arrive', async () => {
  const seeds = Array.from({ length: 200 }, (_, nth) => nth + 1)
  const plans = seeds.map((seed) => drawPlan(seed))
  const troubled = plans.filter(({ faults }) => faults.some(({ kind }) => kind === 'hints-lost'))
  expect(troubled.length).toBeGreaterThan(20)
  for (const plan of troubled.slice(0, 5)) {
    const { violations, lines } = await runPlan(plan, true)
    expect(violations).toEqual([])
    expect(lines.some(({ what }) => what === 'hears hints')).toBe(true)
  }
})
