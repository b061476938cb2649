// Presence of a process that runs no worker: the canary of a drill.
import { startPresence } from '../../runtime/heartbeat/presence-session.ts'
import { processKey } from '../../runtime/worker/process-name.ts'
import { isNeo4jUrl } from '../../store/neo4j/deferred-store.ts'
import { openPresenceConnection, type PresenceAddress } from '../../store/postgres/connection/presence.ts'

export interface HoldPresenceOptions extends Omit<PresenceAddress, 'server'> {
  databaseUrl: string
  workerId: string
  longestLeaseMs: number
}

export interface HeldPresence {
  /** Why there is none: a pooler, a missing permission; null while the lock is held. */
  offReason: string | null
  stop(): Promise<void>
}

/** Resolves once the lock is held, or cannot be. Watches nobody: it would not sweep what it finds. */
export function holdPresence(options: HoldPresenceOptions): Promise<HeldPresence> {
  if (isNeo4jUrl(options.databaseUrl))
    return Promise.resolve({ offReason: 'Neo4j has no sessions', stop: async () => {} })
  return new Promise((resolve) => {
    const answer = (offReason: string | null) => resolve({ offReason, stop: () => presence.stop() })
    const presence = startPresence({
      ...options,
      open: () => openPresenceConnection({ ...options, server: options.databaseUrl }),
      processKey,
      isWatching: false,
      // Both are called after this statement: connecting takes a round trip.
      onPresent: () => answer(null),
      onOff: answer,
    })
  })
}
