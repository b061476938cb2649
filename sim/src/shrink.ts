// Cuts the plan of a violation down: as few faults and jobs as still violate the same invariant.
import { drawPlan, type Plan } from './plan/plan.ts'
import { runPlan, type SeedResult } from './run-seed.ts'

/** A shrunken plan is run with its history. */
export async function shrink(seed: number, invariant: string): Promise<SeedResult> {
  let plan = drawPlan(seed)
  const stillFails = async (candidate: Plan) =>
    (await runPlan(candidate)).violations.some((violation) => violation.invariant === invariant)
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const part of ['faults', 'jobs'] as const) {
      for (let size = Math.ceil(plan[part].length / 2); size >= 1; size = Math.floor(size / 2)) {
        for (let at = 0; at < plan[part].length; ) {
          const candidate = { ...plan, [part]: plan[part].toSpliced(at, size) }
          if (await stillFails(candidate)) {
            plan = candidate
            isSmaller = true
          } else at += size
        }
      }
    }
  }
  return runPlan(plan, true)
}
