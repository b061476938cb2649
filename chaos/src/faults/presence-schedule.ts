// Faults of the sessions that show workers alive (LEASE-10). Each kind comes once before any comes again.
import { between, createRandom } from '../random.ts'
import { WORKERS } from '../settings.ts'
import type { Fault, FaultKind } from './schedule.ts'

/** `isAlone`: everybody is back, or its jobs are, before the next fault. */
type PresenceFault = Omit<FaultKind, 'weight'> & { isAlone?: boolean }

/** Longer than the grace of presence, 2 s, where it is about that. */
export const presenceFaults: PresenceFault[] = [
  { kind: 'kill', target: 'worker', durationMs: [100, 1_500] },
  { kind: 'kill', target: 'worker', durationMs: [3_000, 6_000], isAlone: true },
  { kind: 'pause', target: 'worker', durationMs: [3_000, 8_000] },
  { kind: 'terminate', target: 'worker', durationMs: [100, 500] },
  { kind: 'block', target: 'worker', durationMs: [3_000, 6_000] },
  { kind: 'blackhole', target: 'worker', durationMs: [3_000, 8_000] },
  { kind: 'delay', target: 'worker', durationMs: [3_000, 6_000] },
  { kind: 'reset', target: 'worker', durationMs: [0, 0] },
  { kind: 'session-ended', target: 'worker', durationMs: [0, 0] },
  { kind: 'presence-ended', target: 'worker', durationMs: [0, 0] },
  { kind: 'presences-ended', target: 'database', durationMs: [0, 0] },
  { kind: 'proxies-reset', target: 'database', durationMs: [0, 0] },
  { kind: 'presence-refused', target: 'worker', durationMs: [4_000, 8_000] },
  { kind: 'presence-refused', target: 'worker', durationMs: [4_000, 8_000] },
  { kind: 'presence-refused', target: 'worker', durationMs: [4_000, 8_000] },
  { kind: 'slots-full', target: 'worker', durationMs: [3_000, 6_000], isAlone: true },
  { kind: 'reaper-kill', target: 'reaper', durationMs: [100, 3_000] },
  { kind: 'reaper-pause', target: 'reaper', durationMs: [3_000, 6_000] },
  { kind: 'backend-killed', target: 'database', durationMs: [0, 0], isAlone: true },
  { kind: 'slow-recovery', target: 'database', durationMs: [5_000, 5_000], isAlone: true },
  { kind: 'database-stopped', target: 'database', durationMs: [0, 6_000], isAlone: true },
  { kind: 'pooler-killed', target: 'pooler', durationMs: [0, 4_000], isAlone: true },
]
const BACK_MS = 2_000

export function makePresence({ seed, durationMs }: { seed: number; durationMs: number }): Fault[] {
  const random = createRandom(seed)
  const faults: Fault[] = []
  let deck: PresenceFault[] = []
  for (let atMs = 3_000; atMs < durationMs; ) {
    if (deck.length === 0) deck = shuffled(presenceFaults, random)
    const next = deck.pop()
    if (next === undefined) break
    const { kind, target, durationMs: drawn, isAlone = false } = next
    const lastsMs = between(random, ...drawn)
    const worker = `w${between(random, 1, WORKERS)}`
    faults.push({ atMs, kind, target: target === 'worker' ? worker : target, durationMs: lastsMs })
    atMs += between(random, 500, 3_000) + (isAlone ? lastsMs + BACK_MS : 0)
  }
  return faults
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)
}
