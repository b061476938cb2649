import { createHash } from 'node:crypto'
import { runSeed } from './run-seed.ts'

export interface FailedSeed {
  seed: number
  invariants: string[]
  message: string
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
}

export interface RunSeedsOptions {
  /** Stops at the first violation. */
  isFirstOnly?: boolean
  /** Called every hundred seeds. */
  onProgress?: (done: number, violated: number) => void
}

export async function runSeeds(
  from: number,
  seeds: number,
  { isFirstOnly = false, onProgress = () => {} }: RunSeedsOptions = {},
): Promise<SeedsResult> {
  const hash = createHash('sha256')
  const failed: FailedSeed[] = []
  let events = 0
  let workerMs = 0
  for (let seed = from; seed < from + seeds; seed++) {
    if (isFirstOnly && failed.length > 0) break
    const result = await runSeed(seed)
    hash.update(result.digest)
    events += result.events
    workerMs += result.simulatedMs * result.plan.settings.workers
    const [first] = result.violations
    if (first !== undefined)
      failed.push({
        seed,
        invariants: [...new Set(result.violations.map(({ invariant }) => invariant))],
        message: first.message,
      })
    const done = seed - from + 1
    if (done % 100 === 0) onProgress(done, failed.length)
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
  }
}
