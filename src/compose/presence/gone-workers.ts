// Watching for workers that are gone, for a reaper: a session that holds no presence of its own.
import type { TableProfile } from '../../profile/profile.ts'
import type { GoneWorkers } from '../../runtime/services/reaper.ts'
import { type Presence, startPresence } from '../../store/postgres/connection/presence.ts'
import type { ServerAddress } from '../../store/postgres/connection/schema-owners.ts'

export interface GoneWorkersOptions {
  server: ServerAddress
  schema: string
  table: TableProfile
}

/** Connects with the first use. */
export function watchGoneWorkers(options: GoneWorkersOptions): GoneWorkers & { stop(): Promise<void> } {
  let heard = () => {}
  let session: Presence | undefined
  return {
    onGone(listener) {
      heard = listener
    },
    watch() {
      session ??= startPresence({ ...options, longestLeaseMs: 0, onGone: () => heard() })
      session.watch()
    },
    async stop() {
      await session?.stop()
    },
  }
}
