// A server whose clock steps: what it wrote, in the time of the world, and what the first sweep of a process is excused for.
import { beforeEach, describe, expect, it } from 'vitest'
import type { EventRow } from '../../../chaos/src/judge/history.ts'
import { ServerClock } from '../../../sim/src/database/server-clock.ts'
import type { SweepCall } from '../../../sim/src/database/sweeps.ts'
import { inWorldTime } from '../../../sim/src/judge/world-times.ts'
import { drawPlan, type Fault } from '../../../sim/src/plan/plan.ts'
import { serverStepMs } from '../../../sim/src/plan/server-clock.ts'
import { runPlan } from '../../../sim/src/run-seed.ts'
import { Evidence } from '../../../sim/src/world/evidence.ts'
import { EPOCH_MS, VirtualTime } from '../../../sim/src/world/virtual-time.ts'

let time: VirtualTime
let clock: ServerClock

beforeEach(() => {
  time = new VirtualTime(() => 0)
  clock = new ServerClock(time)
})

/** World and server times of these tests are seconds after the start. */
const at = (seconds: number) => EPOCH_MS + 1_000 * seconds
const secondsOf = (ms: number) => (ms - EPOCH_MS) / 1_000
const iso = (seconds: number) => new Date(at(seconds)).toISOString()

async function step(atSeconds: number, bySeconds: number, afterEvent = 0): Promise<void> {
  time.after(1_000 * atSeconds - time.nowMs, null, () => clock.step(1_000 * bySeconds, afterEvent))
  await time.runUntil(1_000 * atSeconds, () => false)
}

describe('the clock of the server', () => {
  it('is that of the world until it steps', async () => {
    expect(clock.hasStepped).toBe(false)
    await step(10, 60)
    expect(clock.hasStepped).toBe(true)
    expect(secondsOf(clock.nowMs())).toBe(70)
  })

  it('ends at a step forward what would have ended later, and not before a step back has passed again', async () => {
    await step(10, 60)
    await step(100, -20)
    expect(secondsOf(clock.sinceMs(at(5), at(50)))).toBe(5)
    expect(secondsOf(clock.sinceMs(at(40), at(50)))).toBe(10)
    expect(secondsOf(clock.sinceMs(at(80), at(50)))).toBe(20)
    expect(secondsOf(clock.sinceMs(at(150), at(130)))).toBe(110)
    expect(secondsOf(clock.sinceMs(at(200), at(130)))).toBe(160)
    expect(secondsOf(clock.firstMs(at(150), at(0)))).toBe(90)
    expect(secondsOf(clock.firstMs(at(150), at(105)))).toBe(110)
  })

  it('shows some times twice: the first since the claim is meant', async () => {
    await step(100, -20)
    expect(secondsOf(clock.shownMs(at(90), at(0), at(120)))).toBe(90)
    expect(secondsOf(clock.shownMs(at(90), at(100), at(120)))).toBe(110)
  })
})

describe('events of a server whose clock stepped', () => {
  const event = (id: number, type: string, seconds: number, details = {}): EventRow => {
    return { id: String(id), jobId: 'a', type, at: at(seconds), details }
  }

  it('have the times of the world: of the record, the heartbeat, the end of the lease and the next run', async () => {
    await step(10, 60, 1)
    const reaped = event(2, 'reaper:requeued', 80, {
      last_heartbeat_at: iso(8),
      lease_expires_at: iso(38),
      next_run_at: iso(85),
    })
    const [claim, reap] = inWorldTime([event(1, 'processing', 2), reaped], clock)
    expect(secondsOf(claim?.at ?? 0)).toBe(2)
    expect(secondsOf(reap?.at ?? 0)).toBe(20)
    expect(reap?.details).toEqual({
      last_heartbeat_at: iso(8),
      lease_expires_at: iso(10),
      next_run_at: iso(25),
    })
  })

  it('of the moment of a step are not from before it, although they have whole milliseconds', async () => {
    await step(10.000_9, 60, 1)
    const [reap] = inWorldTime([event(2, 'reaper:requeued', 70)], clock)
    expect(secondsOf(reap?.at ?? 0)).toBeCloseTo(10.000_9, 5)
  })

  it('shorten the delay of a released job, if the step comes before it is over', async () => {
    await step(10, 60, 1)
    const [released] = inWorldTime([event(1, 'released', 5, { delay_ms: 30_000 })], clock)
    expect(released?.details).toEqual({ delay_ms: 5_000 })
  })
})

describe('a sweep after a step', () => {
  const sweep = (lastSweptAt?: string) =>
    ({
      request: { reaper: { reaperId: 'r', ...(lastSweptAt === undefined ? {} : { lastSweptAt }) } },
      step: { reaped: [{}], next: null },
    }) as SweepCall
  const excuses = ({ disturbances }: Evidence) => disturbances.filter(({ kind }) => kind === 'step-unknown')

  it('is excused if it is the first of its process and nobody has swept since', () => {
    const evidence = new Evidence(time)
    evidence.noteSweepAfterStep(sweep())
    evidence.noteServerStep(-1_000)
    evidence.noteSweepAfterStep(sweep())
    expect(excuses(evidence)).toEqual([])
    evidence.noteServerStep(1_000)
    evidence.noteSweepAfterStep(sweep())
    evidence.noteSweepAfterStep(sweep())
    expect(excuses(evidence)).toHaveLength(1)
    evidence.noteServerStep(1_000)
    evidence.noteSweepAfterStep(sweep(iso(0)))
    evidence.noteSweepAfterStep(sweep())
    expect(excuses(evidence)).toHaveLength(1)
  })

  it('takes nothing from a worker that lives, in whichever direction the clock stepped', async () => {
    const plan = drawPlan(3)
    const { defaultLeaseMs } = plan.settings.policy
    for (const size of [0, 0.999]) {
      const fault: Fault = {
        atMs: 1,
        kind: 'server-clock-step',
        target: 0,
        durationMs: 0,
        size,
        place: 'working',
      }
      expect(Math.abs(serverStepMs(fault, defaultLeaseMs))).toBeGreaterThan(3.9 * defaultLeaseMs)
      const jobs = [{ atMs: 2 * defaultLeaseMs, type: 'slow', workMs: 2 * defaultLeaseMs } as const]
      const settings = { ...plan.settings, workers: 1, reapers: 1 }
      const { violations, lines } = await runPlan({ ...plan, settings, jobs, faults: [fault] }, true)
      expect(violations).toEqual([])
      expect(lines.some(({ what }) => what.includes('clock steps'))).toBe(true)
      expect(lines.filter(({ what }) => what.includes('requeued'))).toEqual([])
    }
  })
})
