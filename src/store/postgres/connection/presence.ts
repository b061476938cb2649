// The session of a process for presence: a shared advisory lock, held for as long as the process lives (LEASE-10, C24).
import pg from 'pg'
import type { TableProfile } from '../../../profile/profile.ts'
import type { PresenceConnection, PresenceFailure } from '../../presence-connection.ts'
import { render } from '../render/render.ts'
import { readQuery } from '../sql-queries.ts'
import { isDirect } from './connection-identity.ts'
import { destroyClient, endClient } from './end-client.ts'
import type { Row } from './executor.ts'

export interface PresenceAddress {
  databaseUrl: string
  schema: string
  table: TableProfile
}

/** Every statement of the session is short. */
const QUERY_TIMEOUT_MS = 10_000
const UNIQUE_VIOLATION = '23505'
/** The server answered that it will not do this: missing permission, missing function, unsupported. */
const REFUSALS = ['42', '0A', '3D', '28']

export function openPresenceConnection({ databaseUrl, schema, table }: PresenceAddress): PresenceConnection {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'unstuck presence',
    connectionTimeoutMillis: QUERY_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1_000,
  })
  // A loss is reported by `untilLost`, or by the statement that runs.
  client.on('error', () => {})
  const query = async (name: string, params: unknown[]) => {
    const { rows } = await client.query<Row>(render(readQuery(name), { schema, table }), params)
    return rows[0]
  }
  return {
    connect: async () => void (await client.connect()),
    isDirect: async () => isDirect(client, (await query('connection_identity', []))?.['backend_pid']),
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
        client.once('error', resolve)
        client.once('end', () => resolve(new Error('the connection has ended')))
      }),
    end: () => endClient(client),
    destroy: () => destroyClient(client),
    failureOf,
  }
}

function failureOf(error: unknown): PresenceFailure {
  const { code = '', message } = error as Error & { code?: string }
  if (code === UNIQUE_VIOLATION) return 'key-taken'
  if (code.length === 5 && REFUSALS.includes(code.slice(0, 2))) return 'refused'
  // The statement is short, so the network is cut or the server hangs.
  return message === 'Query read timeout' ? 'late' : 'other'
}
