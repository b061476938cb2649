// Entry of the heartbeat thread: hosts a `LeaseThread` with connections of its own.
import { parentPort, workerData } from 'node:worker_threads'
import type { PolicyOverride } from '../policy/policy.ts'
import type { TableProfile } from '../profile/profile.ts'
import { LeaseThread, LONGEST_BEAT_MS } from '../runtime/heartbeat/lease-thread.ts'
import type { ToThread } from '../runtime/heartbeat/thread-heartbeat.ts'
import { isNeo4jUrl } from '../store/neo4j/deferred-store.ts'
import { startPresence } from '../store/postgres/connection/presence.ts'
import type { MovingAddress } from '../store/postgres/connection/schema-owners.ts'
import { openHeartbeatStore } from './open-heartbeat-store.ts'

export interface HeartbeatThreadData {
  databaseUrl: string
  schema: string
  table: TableProfile
  workerId: string
  /** See `PresenceOptions`. */
  processKey: number
  policy: PolicyOverride
  intervalMs: number
}

const data = { ...(workerData as HeartbeatThreadData) }
const moved = new Set<(url: string) => void>()
/** The session for presence follows it. */
const server: MovingAddress = {
  find: async () => data.databaseUrl,
  known: () => data.databaseUrl,
  onMoved(listener) {
    moved.add(listener)
    return () => moved.delete(listener)
  },
}
const thread = new LeaseThread({
  ...data,
  open: () =>
    openHeartbeatStore({
      ...data,
      applicationName: 'unstuck heartbeat',
      connections: 1,
      queryTimeoutMs: LONGEST_BEAT_MS,
      // Kept from beat to beat: on a server without free slots a worker that loses its presence lock shows life over it.
      idleTimeoutMs: 2 * data.intervalMs,
    }),
  startPresence: isNeo4jUrl(data.databaseUrl)
    ? undefined
    : (listener, longestLeaseMs) => startPresence({ ...data, ...listener, server, longestLeaseMs }),
  send: (message) => parentPort?.postMessage(message),
  onStopped: () => parentPort?.close(),
})

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'move') {
    data.databaseUrl = message.databaseUrl
    for (const listener of moved) listener(message.databaseUrl)
  }
  thread.hear(message)
})
