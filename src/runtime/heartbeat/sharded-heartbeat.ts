// Heartbeats of a worker whose jobs are in several shards: each shard has its own, so that one that is down puts only its own
// jobs at risk.
import type { Shards } from '../../store/job-store.ts'
import type { GoneWorkers } from '../services/reaper.ts'
import type { Heartbeat } from './heartbeat.ts'

export interface ShardedHeartbeat extends Heartbeat {
  presenceOf: (shard: number) => GoneWorkers
}

export function joinHeartbeats<Tx>(
  shards: Shards<Tx>,
  start: (shard: number) => Heartbeat,
): ShardedHeartbeat {
  const parts = new Map(shards.all.map(({ number }) => [number, start(number)]))
  const all = [...parts.values()]
  const partOf = (jobId: string) => part(shards.of(jobId).number)
  const part = (number: number) => {
    const found = parts.get(number)
    if (found === undefined) throw new Error(`there is no heartbeat for shard ${number}`)
    return found
  }
  for (const shard of shards.all) {
    let isReady = false
    void part(shard.number).ready.then(() => {
      isReady = true
    })
    // No job whose lease could not be extended (C6, LEASE-9).
    shard.canClaim = () => isReady && part(shard.number).isHealthy()
  }
  return {
    hold: (lease, listener) => partOf(lease.jobId).hold(lease, listener),
    drop: (lease) => partOf(lease.jobId).drop(lease),
    handOver: (lease, leaseMs) => partOf(lease.jobId).handOver(lease, leaseMs),
    hearCancels(leaseNumbers) {
      for (const heartbeat of all) heartbeat.hearCancels(leaseNumbers)
    },
    presence: { onGone: () => {}, watch: () => {} },
    presenceOf: (number) => part(number).presence,
    // The others are claimed from when they are ready.
    ready: Promise.race(all.map(({ ready }) => ready)),
    died: Promise.race(all.map(({ died }) => died)),
    isHealthy: () => all.some((heartbeat) => heartbeat.isHealthy()),
    async stop() {
      await Promise.all(all.map((heartbeat) => heartbeat.stop()))
    },
  }
}
