// The simulator's judge of schedules, on made-up calls.
import { beforeEach, describe, expect, it } from 'vitest'
import { ScheduleJudge } from '../../../sim/src/judge/gates/schedules.ts'
import { drawPlan } from '../../../sim/src/plan/plan.ts'
import type { Job } from '../../../src/job/job.ts'
import type { ScheduleRun } from '../../../src/store/job-store.ts'
import { emptyRow } from '../../../src/store/memory/state/new-job.ts'

const at = (ms: number) => new Date(ms)

describe('the judge of schedules', () => {
  let violations: string[]
  let failovers: number
  let jobs: Job[]
  let judge: ScheduleJudge

  const row = (id: string, status: Job['status']): Job => ({
    ...emptyRow(id, at(0)),
    status,
    payload: { schedule: 'tick' },
  })
  const run = (dueMs: number, nextMs: number, atMs: number, outcome: ScheduleRun['outcome'] = 'enqueued') => {
    const answer = { outcome, jobId: `job of ${dueMs}` } as ScheduleRun
    judge.noteRun('w1', 'tick', { dueAt: at(dueMs), nextRunAt: at(nextMs) }, answer, atMs)
  }
  const judgeOf = (overlap: 'allow' | 'skip') => {
    judge = new ScheduleJudge({
      planned: [{ name: 'tick', everyMs: 1_000, overlap, workMs: 1 }],
      startedAt: 500,
      read: () => ({ nextRunAt: at(9_000) }),
      rows: () => jobs,
      failovers: () => failovers,
      onViolation: (message) => violations.push(message),
    })
    judge.noteListed('w1', at(500))
    judge.noteWritten({ name: 'tick', nextRunAt: at(1_000) })
  }

  beforeEach(() => {
    violations = []
    failovers = 0
    jobs = []
    judgeOf('allow')
  })

  it('accepts one job for each occurrence, and one for all that were missed', () => {
    run(1_000, 2_000, 1_010)
    judge.noteListed('w1', at(4_300))
    run(2_000, 5_000, 4_310)
    run(5_000, 6_000, 5_001, 'taken')
    expect(violations).toEqual([])
  })

  it.each([
    ['twice', 1_000, 2_000],
    ['without the one before', 3_000, 4_000],
    ['and loses the next one', 2_000, 4_000],
  ])('reports an occurrence that runs %s', (_, dueMs, nextMs) => {
    run(1_000, 2_000, 1_010)
    run(dueMs, nextMs, 5_000)
    expect(violations.length).toBeGreaterThan(0)
  })

  it('reports one that runs before its time', () => {
    run(1_000, 2_000, 990)
    expect(violations).toHaveLength(1)
  })

  it('reports one that begins anew when it is written again', () => {
    judge.noteWritten({ name: 'tick', nextRunAt: at(2_000) })
    expect(violations).toHaveLength(1)
  })

  it('goes on from what a failover restored', () => {
    run(1_000, 2_000, 1_010)
    failovers = 1
    run(2_000, 10_000, 9_100)
    run(10_000, 11_000, 10_100)
    expect(violations).toEqual([])
  })

  it('reports a job beside that of an earlier occurrence, unless they may overlap', () => {
    jobs = [row('earlier', 'running')]
    run(1_000, 2_000, 1_010)
    expect(violations).toEqual([])
    judgeOf('skip')
    run(1_000, 2_000, 1_010, 'skipped')
    expect(violations).toEqual([])
    run(2_000, 3_000, 2_010)
    expect(violations).toHaveLength(1)
    judgeOf('allow')
    run(1_000, 2_000, 1_010, 'skipped')
    expect(violations).toHaveLength(2)
  })

  it('reports a job that no occurrence made, and one that is gone', () => {
    run(1_000, 2_000, 1_010)
    jobs = [row('stray', 'succeeded')]
    judge.noteEnd(2_000)
    const check = (isUndone: boolean) => [
      ...judge.check(
        [],
        [],
        () => false,
        () => isUndone,
      ),
    ]
    expect(check(false)).toHaveLength(2)
    expect(check(true)).toHaveLength(1)
  })

  it('reports an occurrence that is late although a worker was free, unless its looks had failed', () => {
    const check = () => [
      ...judge.check(
        [],
        ['w1'],
        () => true,
        () => false,
      ),
    ]
    judge.noteEnd(2_400)
    expect(check()).toEqual([])
    judge.noteEnd(2_600)
    expect(check()).toHaveLength(1)
    judge.noteFailed('w1', 900)
    expect(check()).toEqual([])
  })
})

describe('the plans', () => {
  it('have schedules in some runs, with some that skip and some that overlap', () => {
    const plans = Array.from({ length: 300 }, (_, nth) => drawPlan(nth + 1))
    const scheduled = plans.filter(({ schedules }) => schedules !== undefined)
    expect(scheduled.length).toBeGreaterThan(10)
    const overlaps = scheduled.flatMap(({ schedules = [] }) => schedules.map(({ overlap }) => overlap))
    expect(new Set(overlaps)).toEqual(new Set(['skip', 'allow']))
  })
})
