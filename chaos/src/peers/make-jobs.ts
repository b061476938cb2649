// The jobs of a run by seed: mostly handlers of 1 to 3 s, and some longer than the expiry, which need renewal.
import { between, createRandom } from '../random.ts'
import { EXPIRY_MS } from './settings.ts'

export type PeerJob = { key: string; workMs: number }

const LONG_SHARE = 0.12

export function makeJobs({
  seed,
  durationMs,
}: {
  seed: number
  durationMs: number
}): { atMs: number; workMs: number }[] {
  const random = createRandom(seed ^ 0x5eed)
  const jobs = []
  for (let atMs = 0; atMs < durationMs; atMs += between(random, 250, 550)) {
    const isLong = random() < LONG_SHARE
    const workMs = isLong ? between(random, 1.2 * EXPIRY_MS, 1.6 * EXPIRY_MS) : between(random, 1_000, 3_000)
    jobs.push({ atMs, workMs })
  }
  return jobs
}
