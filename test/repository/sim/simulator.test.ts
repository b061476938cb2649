import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { addCoverage, type Coverage, coverageTable, emptyCells } from '../../../sim/src/coverage.ts'
import { drawPlan } from '../../../sim/src/plan/plan.ts'
import { runPlan, runSeed } from '../../../sim/src/run-seed.ts'
import { runSeeds } from '../../../sim/src/run-seeds.ts'
import { Simulation } from '../../../sim/src/world/simulation.ts'
import { Loop, VirtualTime } from '../../../sim/src/world/virtual-time.ts'
import { replaceTiming, timing } from '../../../src/runtime/timing/timing.ts'

describe('the simulator', () => {
  it('gives the same history for the same seed, line by line, and another one for another', async () => {
    const first = await runSeed(3, true)
    const other = await runSeed(4, true)
    const again = await runSeed(3, true)
    expect(again.lines).toEqual(first.lines)
    expect(again.digest).toBe(first.digest)
    expect(other.digest).not.toBe(first.digest)
    expect(first.lines.length).toBeGreaterThan(50)
  })

  it('finds no violation in the first seeds, which have runs of all three kinds', async () => {
    const seeds = 40
    const flavours = new Set(Array.from({ length: seeds }, (_, nth) => drawPlan(nth + 1).settings.flavour))
    expect(flavours).toEqual(new Set(['calm', 'poison', 'faults']))
    const { failed, events } = await runSeeds(1, seeds)
    expect(failed).toEqual([])
    expect(events).toBeGreaterThan(10_000)
  })

  it('reports jobs that never end', async () => {
    const plan = drawPlan(3)
    const policy = { ...plan.settings.policy, maxAttempts: 5 }
    // Without a slot no job ever starts.
    const { violations } = await runPlan({
      ...plan,
      faults: [],
      settings: { ...plan.settings, policy, concurrency: 0 },
    })
    expect(invariantsOf(violations)).toEqual(new Set(['I8']))
  })

  it('reports needless claims and reaps of a run in which nothing should go wrong', async () => {
    const plan = planOf('calm')
    const kill = { atMs: 0, target: 0, durationMs: 0, size: 0.5, kind: 'kill', place: 'working' } as const
    const { violations } = await runPlan({ ...plan, faults: [kill, { ...kill, place: 'returned' }] })
    expect(invariantsOf(violations)).toContain('calm')
    const { violations: none } = await runPlan(plan)
    expect(none).toEqual([])
  })

  it('reports a job that ends by crashes, beside jobs that kill their process', async () => {
    const plan = planOf('poison')
    const leaseMs = plan.settings.policy.defaultLeaseMs
    // The first worker that runs it is killed, and so is the next one, until it is dead.
    const faults = Array.from({ length: 100 }, (_, nth) => ({
      atMs: (nth * leaseMs) / 10,
      target: 0,
      durationMs: 0,
      size: 0,
      kind: 'kill' as const,
      place: 'working' as const,
    }))
    const jobs = [{ atMs: 0, type: 'slow', workMs: 2 * leaseMs } as const]
    const { violations } = await runPlan({ ...plan, jobs, faults, durationMs: 10 * leaseMs })
    expect(invariantsOf(violations)).toEqual(new Set(['neighbour']))
  })

  it('meets attempts that are aborted, and undoes the neighbours of a transaction', async () => {
    const seeds = Array.from({ length: 400 }, (_, nth) => nth + 1).filter((seed) => seed % 25 !== 0)
    const coverage: Coverage = {}
    for (const place of ['aborted', 'tx'] as const)
      for (const seed of seeds.filter((each) => hasRarePlace(each, place)).slice(0, 8))
        addCoverage(coverage, (await runSeed(seed)).coverage)
    expect(Object.keys(coverage).some((cell) => cell.endsWith(' aborted'))).toBe(true)
    expect(coverage['failover tx']).toBeGreaterThan(1)
  })

  it('leaves nothing of a world behind, also if its processes were killed', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const worlds: WeakRef<Simulation>[] = []
    for (let seed = 1; seed <= 12; seed++) {
      const simulation = new Simulation(drawPlan(seed), false)
      worlds.push(new WeakRef(simulation))
      await simulation.run()
    }
    await expect
      .poll(
        () => {
          collect()
          return worlds.filter((world) => world.deref() !== undefined).length
        },
        { timeout: 30_000 },
      )
      .toBeLessThanOrEqual(1)
  })

  it('prints the same from one thread and from two', async () => {
    const run = promisify(execFile)
    const printed = async (threads: number) => {
      const command = `scripts/sim.mjs --seeds 25 --coverage --threads ${threads}`
      const { stdout } = await run(process.execPath, command.split(' '))
      return stdout
    }
    const one = await printed(1)
    expect(one).toContain('25 seeds from 1: 0 with violations')
    expect(await printed(2)).toBe(one)
  }, 300_000)
})

/** Whether its plan has jobs for a fault at this place: they come when it begins to wait, or shortly before. */
function hasRarePlace(seed: number, place: 'aborted' | 'tx'): boolean {
  const { faults, jobs } = drawPlan(seed)
  return faults.some(
    (fault) =>
      fault.place === place &&
      (place === 'tx'
        ? fault.kind === 'failover' &&
          fault.size < 0.32 &&
          jobs.filter(({ atMs }, nth) => atMs === jobs[nth + 1]?.atMs).length > 0
        : jobs.some(({ atMs }) => atMs === fault.atMs)),
  )
}

const invariantsOf = (violations: { invariant: string }[]) =>
  new Set(violations.map(({ invariant }) => invariant))

/** The plan of the first seed of a kind. */
function planOf(flavour: string) {
  const plans = Array.from({ length: 100 }, (_, nth) => drawPlan(nth + 1))
  return plans.find(({ settings }) => settings.flavour === flavour) ?? drawPlan(1)
}

describe('the coverage of faults', () => {
  it('counts the jobs that a fault met, by their place', async () => {
    const plan = drawPlan(3)
    const fault = {
      atMs: 1,
      target: 0,
      durationMs: 1,
      size: 0,
      kind: 'clock-step',
      place: 'working',
    } as const
    const jobs = [{ atMs: 0, type: 'quick', workMs: 500 } as const]
    const { coverage } = await runPlan({ ...plan, jobs, faults: [fault] })
    expect(coverage).toEqual({ 'clock-step working': 1 })
  })

  it('names cells that are empty and could be filled, and no others', () => {
    const full: Coverage = Object.fromEntries(emptyCells({}).map((cell) => [cell, 1]))
    expect(Object.keys(full)).toContain('failover new')
    // A worker that is killed has no waiting jobs.
    expect(Object.keys(full)).not.toContain('kill new')
    expect(emptyCells(full)).toEqual([])
    const { 'kill tx': _, ...missing } = full
    expect(emptyCells(missing)).toEqual(['kill tx'])
    expect(coverageTable(missing).match(/\*\*0\*\*/g)).toHaveLength(1)
  })
})

describe('virtual time', () => {
  let restore = () => {}
  afterEach(() => restore())

  it('jumps to the next event, and a blocked loop runs its timers late and in order', async () => {
    const time = new VirtualTime(() => 0)
    restore = replaceTiming(time.timing(() => ''))
    const [blocked, free] = [new Loop('blocked'), new Loop('free')]
    const seen: [string, number][] = []
    const note = (name: string) => seen.push([name, timing.nowMs()])
    time.after(0, blocked, () => {
      timing.setTimeout(() => note('first'), 10)
      timing.setTimeout(() => note('second'), 20)
      blocked.blockedUntilMs = time.localMs + 1_000
      note('after the block')
    })
    time.after(0, free, () => void timing.setTimeout(() => note('beside it'), 10))
    await time.runUntil(60_000, () => false)
    expect(seen).toEqual([
      ['after the block', 1_000],
      ['beside it', 10],
      ['first', 1_000],
      ['second', 1_000],
    ])
  })

  it('runs nothing of a loop that is dead, and follows promises before the next event', async () => {
    const time = new VirtualTime(() => 0)
    restore = replaceTiming(time.timing(() => ''))
    const dead = new Loop('dead')
    const alive = new Loop('alive')
    const seen: string[] = []
    time.after(1, dead, () => seen.push('never'))
    time.after(1, alive, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => seen.push('promise'))
    })
    time.after(1, alive, () => seen.push('next event'))
    dead.isDead = true
    await time.runUntil(10, () => false)
    expect(seen).toEqual(['promise', 'next event'])
  })
})
