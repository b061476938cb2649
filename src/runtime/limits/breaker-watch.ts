// Watches the breakers of this worker's dependencies: reports when another worker opened one, and probes dependencies that
// have an address. A successful probe closes an open breaker in mode hold, and lets the first job through earlier in mode
// half-open (BREAK-3).
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { Breaker, JobStore } from '../../store/job-store.ts'
import { repeat } from '../timing/repeat.ts'
import { timing } from '../timing/timing.ts'
import type { DependencyCalls } from './dependency-calls.ts'

export interface WatchedDependency {
  name: string
  /** Called while the breaker is open; a status below 500 in time is healthy. */
  probe?: () => Promise<boolean>
}

export interface BreakerWatchOptions {
  store: Pick<JobStore, 'listBreakers' | 'recordProbe'>
  dependencies: WatchedDependency[]
  calls: DependencyCalls
  events: RuntimeEventEmitter
  /** Interval between two looks while no breaker is open. Default: 5000. */
  intervalMs?: number
}

/** Share of the cooldown, or of the interval between early probes, by which probes are spread. */
const PROBE_SPREAD = 0.2

export interface BreakerWatch {
  stop(): Promise<void>
}

export function watchBreakers(options: BreakerWatchOptions): BreakerWatch {
  const { store, calls, events, intervalMs = 5_000 } = options
  const probes = new Map(options.dependencies.map(({ name, probe }) => [name, probe]))
  if (probes.size === 0) return { stop: async () => {} }
  const watching = repeat(look)
  // A breaker that this worker opened is probed as soon as its cooldown ends.
  const stopListening = events.on('breaker:changed', () => watching.wake())
  return {
    stop() {
      stopListening()
      return watching.stop()
    },
  }

  /** Returns the time until the next look. */
  async function look(): Promise<number> {
    try {
      const breakers = (await store.listBreakers()).filter(({ name }) => probes.has(name))
      const waitsMs = await Promise.all(breakers.map(lookAt))
      return Math.min(intervalMs, ...waitsMs)
    } catch (error) {
      for (const name of probes.keys()) events.emit('breaker:failed', { name, error })
      return intervalMs
    }
  }

  async function lookAt(breaker: Breaker): Promise<number> {
    calls.note(breaker)
    const probe = probes.get(breaker.name)
    if (probe === undefined || breaker.state !== 'open') return intervalMs
    const inMs = probeInMs(breaker)
    if (inMs === null) return intervalMs
    // Spread over the workers: the first probe counts, and the others find a later time.
    const { mode, cooldownMs, probeIntervalMs } = breaker.settings
    const spreadMs = PROBE_SPREAD * (mode === 'hold' ? cooldownMs : probeIntervalMs)
    if (inMs > 0) return inMs + timing.random() * spreadMs
    const probed = await store.recordProbe(breaker.name, await probe().catch(() => false))
    calls.note(probed)
    return Math.max(probeInMs(probed) ?? intervalMs, 50)
  }
}

/** Time until a probe counts; null if none does. */
function probeInMs({ settings, nextProbeInMs, earlyProbeInMs }: Breaker): number | null {
  return settings.mode === 'hold' ? nextProbeInMs : earlyProbeInMs
}
