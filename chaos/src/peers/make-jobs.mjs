// What is enqueued when, by the seed: mostly handlers of 1 to 3 s, and some longer than the expiry, which only renewal keeps.
import { between, createRandom } from '../random.mjs'
import { EXPIRY_MS } from './settings.mjs'

/** @typedef {{ key: string, workMs: number }} PeerJob */

const LONG_SHARE = 0.12

/**
 * @param {{ seed: number, durationMs: number }} options
 * @returns {{ atMs: number, workMs: number }[]}
 */
export function makeJobs({ seed, durationMs }) {
  const random = createRandom(seed ^ 0x5eed)
  const jobs = []
  for (let atMs = 0; atMs < durationMs; atMs += between(random, 250, 550)) {
    const isLong = random() < LONG_SHARE
    const workMs = isLong ? between(random, 1.2 * EXPIRY_MS, 1.6 * EXPIRY_MS) : between(random, 1_000, 3_000)
    jobs.push({ atMs, workMs })
  }
  return jobs
}
