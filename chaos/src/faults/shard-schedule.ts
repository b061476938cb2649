// Faults of several shards: the random ones, each in one of the shards, and servers that are killed in turn.
import { between, createRandom } from '../random.ts'
import { LEASE_MS } from '../settings.ts'
import { EXCLUSIVE, type Fault, makeSchedule } from './schedule.ts'

/** Between the outages every shard works. */
const PAUSE_MS: [number, number] = [4 * LEASE_MS, 8 * LEASE_MS]
const OUTAGE_MS: [number, number] = [2 * LEASE_MS + 500, 6 * LEASE_MS]

export function makeShardFaults(options: { seed: number; durationMs: number; shards: number }): Fault[] {
  const { seed, shards } = options
  const random = createRandom(seed)
  const outages = makeOutagesInTurn(random, options)
  const isBeside = ({ kind, atMs, durationMs }: Fault) =>
    EXCLUSIVE.has(kind) &&
    outages.some(
      (outage) =>
        atMs <= outage.atMs + outage.durationMs + 2 * LEASE_MS &&
        atMs + durationMs + 2 * LEASE_MS >= outage.atMs,
    )
  const others = makeSchedule(options)
    .filter(({ kind }) => kind !== 'database-stopped')
    .map((fault) => ({ ...fault, shard: between(random, 0, shards - 1) }))
    .filter((fault) => !isBeside(fault))
  return [...others, ...outages].toSorted((a, b) => a.atMs - b.atMs)
}

function makeOutagesInTurn(
  random: () => number,
  { durationMs, shards }: { durationMs: number; shards: number },
): Fault[] {
  const outages: Fault[] = []
  for (let atMs = LEASE_MS; ; ) {
    const outageMs = between(random, ...OUTAGE_MS)
    if (atMs + outageMs > durationMs) return outages
    const shard = outages.length % shards
    outages.push({ atMs, kind: 'database-stopped', target: 'database', durationMs: outageMs, shard })
    atMs += outageMs + between(random, ...PAUSE_MS)
  }
}
