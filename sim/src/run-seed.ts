import type { Violation } from '../../chaos/src/judge/history.ts'
import type { Coverage } from './coverage.ts'
import { judge } from './judge/judge.ts'
import { drawPlan, type Plan } from './plan/plan.ts'
import { Simulation } from './world/simulation.ts'
import type { Line } from './world/trace.ts'

export interface SeedResult {
  plan: Plan
  violations: Violation[]
  /** Hash of every line of the history. */
  digest: string
  lines: Line[]
  events: number
  simulatedMs: number
  coverage: Coverage
}

export function runSeed(seed: number, isTraced = false): Promise<SeedResult> {
  return runPlan(drawPlan(seed), isTraced)
}

/** One at a time: the clocks of the runtime are those of the thread. */
export async function runPlan(plan: Plan, isTraced = false): Promise<SeedResult> {
  const simulation = new Simulation(plan, isTraced)
  await simulation.run()
  const violations = judge(simulation)
  const { time, trace, coverage } = simulation
  return {
    plan,
    violations,
    digest: trace.digest(),
    lines: trace.lines,
    events: time.events,
    simulatedMs: time.nowMs,
    coverage,
  }
}
