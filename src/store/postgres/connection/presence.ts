// The session of a process for presence: a shared advisory lock, held for as long as the process lives (LEASE-10, C24).

import type { TableProfile } from '../../../profile/profile.ts'
import type { PresenceConnection, PresenceFailure } from '../../presence-connection.ts'
import { render } from '../render/render.ts'
import { readQuery } from '../sql-queries.ts'
import { isDirect } from './connection-identity.ts'
import { pg } from './driver.ts'
import { destroyClient, endClient } from './end-client.ts'
import type { Row } from './executor.ts'
import { findAddress, type ServerAddress } from './schema-owners.ts'

export interface PresenceAddress {
  server: ServerAddress
  schema: string
  table: TableProfile
}

/** Every statement of the session is short. */
const QUERY_TIMEOUT_MS = 10_000
const UNIQUE_VIOLATION = '23505'
/** The server answered that it will not do this: missing permission, missing function, unsupported. */
const REFUSALS = ['42', '0A', '3D', '28']

/** Looks up its server when it connects: a schema may have moved since the last session. */
export function openPresenceConnection({ server, schema, table }: PresenceAddress): PresenceConnection {
  let client: pg.Client | undefined
  let isDestroyed = false
  const opened = () => {
    if (client === undefined) throw new Error('not connected')
    return client
  }
  const texts = new Map<string, string>()
  const query = async (name: string, params: unknown[]) => {
    // A look each second would render its statement each time, 0.3 ms of the heartbeat thread.
    const text = texts.get(name) ?? render(readQuery(name), { schema, table })
    texts.set(name, text)
    const { rows } = await opened().query<Row>(text, params)
    return rows[0]
  }
  return {
    async connect() {
      const connectionString = await findAddress(server)
      if (isDestroyed) throw new Error('destroyed before it was connected')
      client = createClient(connectionString)
      await client.connect()
    },
    isDirect: async () => isDirect(opened(), (await query('connection_identity', []))?.['backend_pid']),
    prepare: async (longestLeaseMs) => void (await query('prepare_presence', [Math.round(longestLeaseMs)])),
    take: async (workerId, lock) =>
      void (await query('take_presence', [workerId, lock?.key ?? null, lock?.graceMs ?? null])),
    leave: async (workerId) => void (await query('leave_presence', [workerId])),
    watch: async () => (await query('watch_workers', []))?.['is_watching'] === true,
    async look() {
      const row = await query('look_at_workers', [])
      return { newlyGone: Number(row?.['newly_gone'] ?? 0), watchers: Number(row?.['watchers'] ?? 1) }
    },
    untilLost: () =>
      new Promise((resolve) => {
        opened().once('error', resolve)
        opened().once('end', () => resolve(new Error('the connection has ended')))
      }),
    end: () => endClient(opened()),
    destroy() {
      isDestroyed = true
      if (client !== undefined) destroyClient(client)
    },
    failureOf,
  }
}

function createClient(connectionString: string): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'unstuck presence',
    connectionTimeoutMillis: QUERY_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1_000,
  })
  // A loss is reported by `untilLost`, or by the statement that runs.
  client.on('error', () => {})
  return client
}

function failureOf(error: unknown): PresenceFailure {
  const { code = '', message } = error as Error & { code?: string }
  if (code === UNIQUE_VIOLATION) return 'key-taken'
  if (code.length === 5 && REFUSALS.includes(code.slice(0, 2))) return 'refused'
  // The statement is short, so the network is cut or the server hangs.
  return message === 'Query read timeout' ? 'late' : 'other'
}
