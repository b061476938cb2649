import { createHash } from 'node:crypto'
import { addCoverage, type Coverage } from './coverage.ts'
import { runSeed } from './run-seed.ts'

export interface FailedSeed {
  seed: number
  invariants: string[]
  message: string
}

/** The judged run of a seed. */
export interface SeedOutcome {
  seed: number
  digest: string
  events: number
  workerMs: number
  coverage: Coverage
  failure: FailedSeed | null
}

export interface SeedsResult {
  from: number
  seeds: number
  failed: FailedSeed[]
  events: number
  workerHours: number
  cpuSeconds: number
  /** Hash of all histories. */
  digest: string
  coverage: Coverage
}

export interface RunSeedsOptions {
  /** Stops at the first violation. */
  isFirstOnly?: boolean
  /** Called every hundred seeds. */
  onProgress?: (done: number, violated: number) => void
  /** Called at once: a long run may be ended before it prints its result. */
  onFailed?: (failure: FailedSeed) => void
  /** The outcomes of these seeds, in order. Default: run here, one after the other. */
  outcomes?: (from: number, seeds: number) => AsyncIterable<SeedOutcome>
}

export async function runSeeds(
  from: number,
  seeds: number,
  {
    isFirstOnly = false,
    onProgress = () => {},
    onFailed = () => {},
    outcomes = runHere,
  }: RunSeedsOptions = {},
): Promise<SeedsResult> {
  const hash = createHash('sha256')
  const failed: FailedSeed[] = []
  const coverage: Coverage = {}
  let [done, events, workerMs] = [0, 0, 0]
  for await (const outcome of outcomes(from, seeds)) {
    hash.update(outcome.digest)
    events += outcome.events
    workerMs += outcome.workerMs
    addCoverage(coverage, outcome.coverage)
    if (outcome.failure !== null) {
      failed.push(outcome.failure)
      onFailed(outcome.failure)
    }
    if (++done % 100 === 0) onProgress(done, failed.length)
    if (isFirstOnly && failed.length > 0) break
  }
  const { user, system } = process.cpuUsage()
  return {
    from,
    seeds,
    failed,
    events,
    workerHours: workerMs / 3_600_000,
    cpuSeconds: (user + system) / 1e6,
    digest: hash.digest('hex').slice(0, 16),
    coverage,
  }
}

export async function* runHere(from: number, seeds: number): AsyncGenerator<SeedOutcome> {
  for (let seed = from; seed < from + seeds; seed++) yield outcomeOf(seed)
}

async function outcomeOf(seed: number): Promise<SeedOutcome> {
  const { digest, events, simulatedMs, plan, coverage, violations } = await runSeed(seed)
  const [first] = violations
  const invariants = [...new Set(violations.map(({ invariant }) => invariant))]
  return {
    seed,
    digest,
    events,
    workerMs: simulatedMs * plan.settings.workers,
    coverage,
    failure: first === undefined ? null : { seed, invariants, message: first.message },
  }
}
