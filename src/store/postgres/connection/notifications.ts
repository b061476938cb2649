// A connection that listens to the notifications of a table: hints of new work, or ends that somebody waits for.
import type { TableProfile } from '../../../profile/profile.ts'
import type { NotificationConnection } from '../../notification-connection.ts'
import { render } from '../render/render.ts'
import { readQuery } from '../sql-queries.ts'
import { isDirect } from './connection-identity.ts'
import { pg } from './driver.ts'
import { endClient } from './end-client.ts'
import type { Row } from './executor.ts'
import { findAddress, type ServerAddress } from './schema-owners.ts'

export interface NotificationAddress {
  databaseUrl: ServerAddress
  schema: string
  table: TableProfile
}

/** `subscribe`: the statement that subscribes the connection. Looks up its server when it connects: a schema may have moved. */
export function openNotificationConnection(
  { databaseUrl, schema, table }: NotificationAddress,
  subscribe: 'listen_to_hints' | 'listen_to_waits',
): NotificationConnection {
  let client: pg.Client | undefined
  let isEnded = false
  const opened = () => {
    if (client === undefined) throw new Error('not connected')
    return client
  }
  return {
    async connect() {
      const connectionString = await findAddress(databaseUrl)
      if (isEnded) throw new Error('ended before it was connected')
      client = createClient(connectionString)
      await client.connect()
    },
    async subscribe(onPayload) {
      opened().on('notification', ({ payload = '' }) => onPayload(payload))
      const { rows } = await opened().query<Row>(render(readQuery(subscribe), { schema, table }))
      return {
        channel: String(rows[0]?.['channel']),
        isDirect: isDirect(opened(), rows[0]?.['backend_pid']),
      }
    },
    // pg does not reconnect: it emits an error, an end, or both.
    untilLost: () =>
      new Promise((resolve) => {
        opened().once('error', resolve)
        opened().once('end', () => resolve(new Error('the connection was closed')))
      }),
    async end() {
      isEnded = true
      if (client !== undefined) await endClient(client)
    },
  }
}

function createClient(connectionString: string): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'unstuck listen',
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    keepAlive: true,
    // Detects a silently lost server within half a minute.
    keepAliveInitialDelayMillis: 10_000,
  })
  // A loss is reported by `untilLost`, or by the call that runs.
  client.on('error', () => {})
  return client
}
