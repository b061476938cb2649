// Several reapers in a run: which plans have them, and which of them can sweep.
import { describe, expect, it } from 'vitest'
import { drawPlan, type Fault, type Plan } from '../../../sim/src/plan/plan.ts'
import { addReapers, reaperFaults } from '../../../sim/src/plan/reapers.ts'
import { runPlan } from '../../../sim/src/run-seed.ts'
import { Simulation } from '../../../sim/src/world/simulation.ts'

const plan = drawPlan(3)
const withReapers = (reapers: number, faults: Fault[] = []): Plan => ({
  ...plan,
  jobs: [],
  faults,
  settings: { ...plan.settings, reapers, workers: 0 },
})
const hit = (kind: Fault['kind'], target: number, durationMs: number, atMs = 100): Fault => ({
  atMs,
  kind,
  target,
  durationMs,
  size: 0,
  place: null,
})

describe('several reapers', () => {
  it('are in some plans, and faults of reapers in those that have one; the others stay as they are', () => {
    const plans = Array.from({ length: 300 }, (_, nth) => drawPlan(nth + 1))
    const counts = new Set(plans.map(({ settings }) => settings.reapers))
    expect(counts).toEqual(new Set([0, 1, 2, 3]))
    const added = new Set<string>(reaperFaults.filter((kind) => kind !== 'reaper-kill'))
    const troubled = plans.filter(({ faults }) => faults.some(({ kind }) => added.has(kind)))
    expect(troubled.length).toBeGreaterThan(50)
    for (const { settings } of troubled) expect(settings).toMatchObject({ flavour: 'faults' })
    expect(troubled.filter(({ settings }) => settings.reapers === 0)).toEqual([])
    const untouched = Array.from({ length: 50 }, (_, seed) => ({ ...withReapers(0), seed })).filter(
      (each) => addReapers(each) === each,
    )
    expect(untouched.length).toBeGreaterThan(20)
  })

  it('take over from one that is frozen, and from one that is cut off', async () => {
    const { sweepIntervalMs } = plan.settings.policy
    const lastsMs = 20 * sweepIntervalMs
    for (const kind of ['reaper-pause', 'reaper-cut-off'] as const) {
      const faults = [hit(kind, 0, lastsMs)]
      const { lines } = await runPlan({ ...withReapers(2, faults), durationMs: lastsMs }, true)
      const sweeps = lines.filter(
        ({ atMs, what }) => atMs > 200 && atMs < lastsMs && what.startsWith('sweep'),
      )
      expect(sweeps.length).toBeGreaterThan(15)
      expect(new Set(sweeps.map(({ what }) => what.split(':')[0]))).toEqual(
        new Set(['sweepJobs by reaper-2']),
      )
    }
  })

  it('cannot sweep if each of them is frozen or cut off', async () => {
    const { reapers, time, database } = new Simulation(withReapers(2), false)
    expect(reapers.canSweep(1_000)).toBe(false)
    reapers.startAll()
    expect(reapers.canSweep(1_000)).toBe(true)
    reapers.pause('reaper-1', 500)
    expect(reapers.canSweep(1_000)).toBe(true)
    database.network.cutOff(reapers.nameOf(1) ?? '')
    expect(reapers.canSweep(1_000)).toBe(false)
    reapers.kill('reaper-1')
    expect(reapers.canSweep(1_000)).toBe(true)
    expect(time.events).toBe(0)
  })
})
