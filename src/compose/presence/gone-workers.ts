// Watching for workers that are gone, for a reaper: a session that holds no presence of its own.
import { startPresence } from '../../runtime/heartbeat/presence-session.ts'
import type { Presence } from '../../runtime/heartbeat/worker-presence.ts'
import type { GoneWorkers } from '../../runtime/services/reaper.ts'
import { openPresenceConnection, type PresenceAddress } from '../../store/postgres/connection/presence.ts'
import { movesOf } from '../../store/postgres/connection/schema-owners.ts'

/** Connects with the first use. */
export function watchGoneWorkers(address: PresenceAddress): GoneWorkers & { stop(): Promise<void> } {
  let heard = () => {}
  let session: Presence | undefined
  return {
    onGone(listener) {
      heard = listener
    },
    watch() {
      session ??= startPresence({
        open: () => openPresenceConnection(address),
        onMoved: movesOf(address.server),
        longestLeaseMs: 0,
        onGone: () => heard(),
      })
      session.watch()
    },
    async stop() {
      await session?.stop()
    },
  }
}
