// Presence of a worker, in its heartbeat thread. While its lock is lost it shows life over the connection for heartbeats.
import type { TableProfile } from '../../profile/profile.ts'
import { isNeo4jUrl } from '../../store/neo4j/deferred-store.ts'
import { type Presence, startPresence } from '../../store/postgres/connection/presence.ts'

export type { Presence } from '../../store/postgres/connection/presence.ts'

export interface WorkerPresenceOptions {
  databaseUrl: string
  schema: string
  table: TableProfile
  workerId: string
  processKey: number
  longestLeaseMs: number
  /** Extends all leases now. */
  beat: () => void
  showLife: () => Promise<void>
  /** Monotonic time at which the last heartbeat with an answer was sent. */
  lastBeatAtMs: () => number
  /** No lock and no answer: the jobs may be taken back. */
  onAtRisk: (reason: string) => void
  onOff: (reason: string) => void
  onGone: () => void
}

const SIGN_MS = 500

/** Undefined for a store without sessions. */
export function keepPresence(options: WorkerPresenceOptions): Presence | undefined {
  if (isNeo4jUrl(options.databaseUrl)) return undefined
  let graceMs = 0
  let lastSignAtMs = 0
  let lostAtMs: number | undefined

  function returned(newGraceMs: number): void {
    graceMs = newGraceMs
    lostAtMs = undefined
    // Its jobs may have been taken back meanwhile: trust no lease before this is answered.
    options.beat()
  }

  function lost(error: Error): void {
    lostAtMs = performance.now()
    const lossAtMs = lostAtMs
    options.beat()
    void showLife(lossAtMs)
    setTimeout(() => {
      const isProven = Math.max(lastSignAtMs, options.lastBeatAtMs()) >= lossAtMs
      if (lostAtMs === lossAtMs && !isProven) options.onAtRisk(error.message)
    }, graceMs / 2).unref()
  }

  async function showLife(lossAtMs: number): Promise<void> {
    const isStillLost = () => lostAtMs === lossAtMs
    while (isStillLost()) {
      const sentAtMs = performance.now()
      await options.showLife().then(
        () => {
          lastSignAtMs = sentAtMs
        },
        () => {},
      )
      await new Promise((resolve) => setTimeout(resolve, SIGN_MS).unref())
    }
  }

  const presence = startPresence({ ...options, onPresent: returned, onLost: lost })
  return {
    watch: () => presence.watch(),
    async stop() {
      lostAtMs = undefined
      await presence.stop()
    },
  }
}
