// The schedule of faults by seed: rounds of a minute, the same for every contender. Each round has every kind of fault;
// outages and deploys happen alone, so that their consequences have one cause.

import type { Fault } from '../faults/schedule.ts'
import { between, createRandom } from '../random.ts'
import { EXPIRY_MS, WORKERS } from './settings.ts'

const ROUND_MS = 60_000
/** Long faults end before the outage. */
const FROM_MS: [number, number] = [1_000, 7_000]
const LONG_MS: [number, number] = [1.2 * EXPIRY_MS, 1.5 * EXPIRY_MS]
const OUTAGE_FROM_MS = 26_000
const OUTAGE_MS: [number, number] = [0.3 * EXPIRY_MS, 1.4 * EXPIRY_MS]
const DEPLOY_FROM_MS = 50_000

export function makeRounds({ seed, durationMs }: { seed: number; durationMs: number }): Fault[] {
  const random = createRandom(seed)
  const faults: Fault[] = []
  for (let roundMs = 0; roundMs < durationMs; roundMs += ROUND_MS) faults.push(...makeRound(random, roundMs))
  return faults.filter(({ atMs }) => atMs < durationMs).toSorted((a, b) => a.atMs - b.atMs)
}

function makeRound(random: () => number, roundMs: number): Fault[] {
  const [killed = '', paused = '', blocked = '', cutOff = ''] = shuffle(random)
  const draw = ([least, most]: [number, number]) => between(random, least, most)
  const fault = (kind: string, target: string, atMs: number, durationMs = 0) => ({
    kind,
    target,
    atMs: roundMs + atMs,
    durationMs,
  })
  return [
    fault('pause', paused, draw(FROM_MS), draw(LONG_MS)),
    fault('block', blocked, draw(FROM_MS), draw(LONG_MS)),
    fault('blackhole', cutOff, draw(FROM_MS), draw(LONG_MS)),
    fault('kill', killed, draw([1_000, 10_000]), draw([100, 1_500])),
    fault('kill', killed, draw([14_000, 24_000]), draw([100, 1_500])),
    fault('database-stopped', 'database', OUTAGE_FROM_MS + draw([0, 1_000]), draw(OUTAGE_MS)),
    fault('kill', paused, draw([43_000, 47_000]), draw([100, 1_500])),
    fault('deploy', 'all', DEPLOY_FROM_MS + draw([0, 1_000])),
  ]
}

function shuffle(random: () => number) {
  return Array.from({ length: WORKERS }, (_, index) => ({ name: `w${index + 1}`, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ name }) => name)
}
