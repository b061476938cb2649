import { afterEach, describe, expect, it } from 'vitest'
import { drawPlan } from '../../../sim/src/plan/plan.ts'
import { runPlan, runSeed } from '../../../sim/src/run-seed.ts'
import { runSeeds } from '../../../sim/src/run-seeds.ts'
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
    expect(new Set(violations.map(({ invariant }) => invariant))).toEqual(new Set(['I8']))
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
