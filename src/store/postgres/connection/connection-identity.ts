// Identifies the database behind a connection string, and detects a pooler in between.

import { UnstuckError } from '../../../errors/index.ts'
import { readQuery } from '../sql-queries.ts'
import { pg } from './driver.ts'
import { endClient } from './end-client.ts'
import { translated } from './postgres-errors.ts'

interface ConnectionIdentity {
  isDirect: boolean
  /** The same for every connection to one database of one running server. */
  database: string
}

export interface Route {
  /** The jobs' address reaches the server directly. */
  isDirect: boolean
  /** The address for heartbeats and hints; null if it is the same. */
  direct: { isDirect: boolean; isSameDatabase: boolean } | null
}

export async function readRoute(databaseUrl: string, directUrl: string): Promise<Route> {
  const jobs = await identifyConnection(databaseUrl)
  if (directUrl === databaseUrl) return { isDirect: jobs.isDirect, direct: null }
  const { isDirect, database } = await identifyConnection(directUrl)
  return { isDirect: jobs.isDirect, direct: { isDirect, isSameDatabase: database === jobs.database } }
}

/** Heartbeats in another database would find every lease lost. */
export async function requireSameDatabase(databaseUrl: string, directUrl: string): Promise<void> {
  const { direct } = await readRoute(databaseUrl, directUrl)
  if (direct?.isSameDatabase !== false) return
  throw new UnstuckError(
    'INVALID_CONFIG',
    'UNSTUCK_DIRECT_URL: points to another database than the one with the jobs',
    {
      hint: 'Set it to the address of the server behind the pooler, with the same database name.',
    },
  )
}

/** Name of the database behind a URL; the same for every connection to one database of one running server. */
export async function readDatabase(url: string): Promise<string> {
  return (await identifyConnection(url)).database
}

async function identifyConnection(databaseUrl: string): Promise<ConnectionIdentity> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'unstuck',
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
  })
  // Losing the connection is reported by the statement that runs on it.
  client.on('error', () => {})
  try {
    return await translated(async () => {
      await client.connect()
      const { rows } = await client.query(readQuery('connection_identity'))
      const [row] = rows as { backend_pid: number; database: string }[]
      if (row === undefined) throw new Error('the query of the identity answered no row')
      return { isDirect: isDirect(client, row.backend_pid), database: row.database }
    })
  } finally {
    await endClient(client)
  }
}

/** A pooler invents its own process ids. Port, socket and a constant pid prove nothing (C24). */
export function isDirect(client: object, backendPid: unknown): boolean {
  return 'processID' in client && client.processID === backendPid
}
