// Rules of the simulator's judge, on made-up sweeps and departures.
import { beforeEach, describe, expect, it } from 'vitest'
import type { EventRow } from '../../../chaos/src/judge/history.ts'
import type { SweepCall } from '../../../sim/src/database/sweeps.ts'
import { checkGivenUp } from '../../../sim/src/judge/leases/given-up.ts'
import { Departures } from '../../../sim/src/judge/leaving/departures.ts'
import { FailedSweeps } from '../../../sim/src/judge/sweeps/failed-sweeps.ts'
import { MassExpiries } from '../../../sim/src/judge/sweeps/mass-expiries.ts'
import { Evidence } from '../../../sim/src/world/evidence.ts'
import { EPOCH_MS, VirtualTime } from '../../../sim/src/world/virtual-time.ts'
import { emptyRow } from '../../../src/store/memory/state/new-job.ts'

const NOW = EPOCH_MS + 100_000

describe('workers that fall silent together', () => {
  const running = (id: string, workerId: string, beatMsAgo: number) => ({
    ...emptyRow(id, new Date(EPOCH_MS)),
    status: 'running' as const,
    workerId,
    heartbeatAt: new Date(NOW - beatMsAgo),
    leaseExpiresAt: new Date(NOW - beatMsAgo + 10_000),
  })
  const taken = (jobId: string, workerId: string) => ({
    jobId,
    workerId,
    action: 'requeued' as const,
    reason: 'lease_expired',
    stage: 'asr',
    attempt: 1,
    retryInMs: 0,
  })
  const sweep = (change: Partial<SweepCall> = {}): SweepCall => ({
    request: {
      reaper: { reaperId: 'r', lastSweptAt: new Date(NOW - 2_000).toISOString(), elapsedMs: 2_000 },
    },
    nowMs: NOW,
    sweptAtMs: NOW - 2_000,
    outageEndMs: null,
    gone: new Map(),
    running: [running('a', 'w1', 11_000), running('b', 'w2', 10_500)],
    step: {
      reaped: [taken('a', 'w1')],
      held: 0,
      holdReason: null,
      sweptAt: new Date(NOW).toISOString(),
      next: null,
    },
    ...change,
  })
  const reportsOf = (call: SweepCall) => {
    const reports: string[] = []
    const onViolation = (message: string) => reports.push(message)
    new MassExpiries({ onSilence: () => {}, onViolation }).noteSweep(call)
    return reports
  }

  it('may not lose a job to the sweep that finds them', () => {
    expect(reportsOf(sweep())).toHaveLength(1)
    expect(reportsOf(sweep({ step: { ...sweep().step, reaped: [] } }))).toEqual([])
  })

  it('are an outage since the last sweep, which begins a hold anew', () => {
    const silences: number[][] = []
    const onSilence = (...silence: number[]) => silences.push(silence)
    const massExpiries = new MassExpiries({ onSilence, onViolation: () => {} })
    massExpiries.noteSweep(sweep())
    massExpiries.noteSweep(sweep({ running: [running('a', 'w1', 11_000)] }))
    expect(silences).toEqual([[NOW - 2_000, NOW]])
  })

  it('are dead if one of them is alone, another worker was heard since, or their sessions are gone', () => {
    expect(reportsOf(sweep({ running: [running('a', 'w1', 11_000)] }))).toEqual([])
    const heard = [...sweep().running, running('c', 'w3', 1_000)]
    expect(reportsOf(sweep({ running: heard }))).toEqual([])
    expect(reportsOf(sweep({ gone: new Map([['w1', NOW - 5_000]]) }))).toEqual([])
  })

  it('are not judged by a reaper without a past, nor again after an outage that is known', () => {
    expect(reportsOf(sweep({ request: { reaper: { reaperId: 'r' } } }))).toEqual([])
    expect(reportsOf(sweep({ outageEndMs: NOW - 100 }))).toEqual([])
  })
})

describe('a reaper whose sweeps failed', () => {
  const LEASE_MS = 10_000
  let outages: number[][]
  let sweeps: FailedSweeps
  const reach = (reaper: string, sentAtMs: number, nowMs: number, isFirst = false) =>
    sweeps.noteSweep(reaper, { sentAtMs, nowMs, isFirst })

  beforeEach(() => {
    outages = []
    sweeps = new FailedSweeps(LEASE_MS, (...outage) => outages.push(outage))
    reach('r1', 0, 1)
    sweeps.noteFailure('r1', 'sweepJobs', 2_000)
  })

  it('has met an outage if no other got through, until its sweep is answered', () => {
    sweeps.noteAnswer('r1', 'reportWorker')
    reach('r1', 8_000, 8_001)
    sweeps.noteAnswer('r1', 'sweepJobs')
    reach('r1', 9_000, 9_001)
    expect(outages).toEqual([[2_000, 8_001]])
  })

  it('had trouble of its own if another got through within half a lease', () => {
    reach('r2', 4_000, 4_001)
    reach('r1', 8_000, 8_001)
    expect(outages).toEqual([])
    reach('r2', 9_000, 9_001)
    reach('r1', 15_000, 15_001)
    expect(outages).toEqual([[9_001, 15_001]])
  })

  it('has met one although the first sweep of another got through, which knows of no earlier one', () => {
    reach('r2', 4_000, 4_001, true)
    reach('r1', 8_000, 8_001)
    expect(outages).toEqual([[2_000, 8_001]])
  })

  it('has met none if the failures were those of a process that was killed', () => {
    sweeps.noteFailure('r1', 'reportWorker', 3_000)
    sweeps.forget('r1')
    reach('r1', 8_000, 8_001)
    expect(outages).toEqual([])
  })

  it('has met one if a sweep of it was long on its way', () => {
    reach('r2', 4_000, 9_001)
    expect(outages).toEqual([[4_000, 9_001]])
  })
})

describe('a worker that leaves in order', () => {
  const reap = (cause: string): EventRow => ({
    id: '1',
    jobId: 'a',
    type: 'reaper:requeued',
    at: EPOCH_MS + 20_000,
    details: { cause, locked_by: 'w1', last_heartbeat_at: new Date(EPOCH_MS + 9_000).toISOString() },
  })
  const leave = (evidence = new Evidence(new VirtualTime(() => 0))) => {
    const departures = new Departures(evidence)
    departures.noteStop('w1', EPOCH_MS + 10_000)
    return departures
  }

  it('may not leave a job to the reaper', () => {
    const departures = leave()
    departures.noteEnd('w1', EPOCH_MS + 12_000)
    expect([...departures.check([reap('crash')])]).toMatchObject([{ invariant: 'deploy' }])
    expect([...departures.check([reap('timeout')])]).toEqual([])
  })

  it('is not excused by a session that ended: no release needs it', () => {
    const evidence = new Evidence(new VirtualTime(() => 0))
    evidence.noteSessionEnd('w1')
    const departures = leave(evidence)
    departures.noteEnd('w1', EPOCH_MS + 12_000)
    expect([...departures.check([reap('crash')])]).toMatchObject([{ invariant: 'deploy' }])
  })

  it('is excused if it was killed, a call of it failed, or something kept it from renewing', () => {
    expect([...leave().check([reap('crash')])]).toEqual([])
    const failed = leave()
    failed.noteFailure('w1')
    failed.noteEnd('w1', EPOCH_MS + 12_000)
    expect([...failed.check([reap('crash')])]).toEqual([])
    const evidence = new Evidence(new VirtualTime(() => 0))
    evidence.disturb('w1', 'blackhole', 9_500)
    const cut = leave(evidence)
    cut.noteEnd('w1', EPOCH_MS + 12_000)
    expect([...cut.check([reap('crash')])]).toEqual([])
  })
})

describe('the evidence of a run', () => {
  const line = { kind: 'ended', worker: 'w1', pid: 0, job: 'a', lease: 'l', end: 'completed' }

  it('excuses what a worker heard before its commit was lost, whenever a blocked loop wrote it down', async () => {
    const time = new VirtualTime(() => 0)
    const evidence = new Evidence(time)
    time.after(10, null, () => evidence.note({ ...line, at: EPOCH_MS + 1_000 }))
    time.after(500, null, () => evidence.noteLost(5))
    time.after(2_000, null, () => evidence.note({ ...line, at: EPOCH_MS + 2_000 }))
    await time.runUntil(3_000, () => false)
    expect(evidence.keptLedger()).toMatchObject([{ end: 'lost' }, { end: 'completed' }])
  })

  it('keeps the end of a session until the worker has another', async () => {
    const time = new VirtualTime(() => 0)
    const evidence = new Evidence(time)
    evidence.noteSessionEnd('w1')
    time.after(700, null, () => evidence.noteSession('w1'))
    await time.runUntil(1_000, () => false)
    expect(evidence.disturbances).toMatchObject([{ kind: 'presence-ended', to: EPOCH_MS + 700 }])
  })
})

describe('a lease that its worker gave up', () => {
  const judged = (lostAt: number, { cause = 'crash', isLeaving = false, isUndone = false } = {}) => {
    const evidence = new Evidence(new VirtualTime(() => 0))
    const departures = new Departures(evidence)
    if (isLeaving) departures.noteStop('w1', lostAt - 1)
    evidence.note({ kind: 'ended', at: lostAt, worker: 'w1', pid: 0, job: 'a', lease: 'l', end: 'lost' })
    if (isUndone) evidence.noteLost(0)
    const details = { cause, lease_id: 'l' }
    const reap = { id: '1', jobId: 'a', type: 'reaper:requeued', at: NOW, details }
    return [...checkGivenUp({ evidence, departures }, [reap])]
  }

  it('is a violation if it is reaped later, whatever was lost on the way', () => {
    expect(judged(NOW - 1_000)).toMatchObject([{ invariant: 'given up' }])
  })

  it('is none if the reap came first or for a deadline, the worker was leaving, or a failover undid it', () => {
    expect(judged(NOW + 1)).toEqual([])
    expect(judged(NOW - 1_000, { cause: 'timeout' })).toEqual([])
    expect(judged(NOW - 1_000, { isLeaving: true })).toEqual([])
    expect(judged(NOW - 1_000, { isUndone: true })).toEqual([])
  })
})
