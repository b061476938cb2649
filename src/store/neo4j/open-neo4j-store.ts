// Opens a store with connections of its own.
import neo4j, { type Driver } from 'neo4j-driver'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { AccessStore } from '../access-store.ts'
import type { JobStore } from '../job-store.ts'
import { sendAtOnce } from './graph/no-delay.ts'
import { checkNeo4j } from './install.ts'
import { createNeo4jAccess } from './neo4j-access.ts'
import { createNeo4jStore } from './neo4j-store.ts'
import type { NodeNotice } from './state/node-notice.ts'

export interface OpenNeo4jOptions {
  /** `neo4j://user:password@host:7687/database`, or `bolt://` for a single server. */
  url: string
  label?: string
  /** Names, status words, types of times and policy, if they differ from document 002. */
  table?: TableProfile
  policy?: PolicyOverride
  /** Keys of the payload that are properties of a node, by their names. */
  payload?: Record<string, string>
  /** 7 to 30. Default: 14 (`EMBED_JOB_RETENTION_DAYS`). */
  retentionDays?: number
  /** Receives what an operator should know about nodes. Default: `process.emitWarning`. */
  onNotice?: (notice: NodeNotice) => void
}

export interface Neo4jJobStore extends JobStore {
  close(): Promise<void>
}

const schemes = ['neo4j:', 'neo4j+s:', 'neo4j+ssc:', 'bolt:', 'bolt+s:', 'bolt+ssc:']
const DEFAULT_PORT = 7_687
const MIN_RETENTION_DAYS = 7
const MAX_RETENTION_DAYS = 30
const DEFAULT_RETENTION_DAYS = 14

/** Fails at once if the server is unreachable, too old or lacks APOC, or if the retention is out of range. */
export async function openNeo4jStore(options: OpenNeo4jOptions): Promise<Neo4jJobStore> {
  const opened = await openNeo4j(options)
  return { ...opened.store, close: () => opened.close() }
}

export interface OpenNeo4j {
  store: JobStore
  /** For a server of the HTTP API. */
  access: AccessStore
  close(): Promise<void>
}

export async function openNeo4j(options: OpenNeo4jOptions): Promise<OpenNeo4j> {
  const { url, label, policy, table, payload, onNotice } = options
  const retentionDays = checkRetention(options.retentionDays ?? DEFAULT_RETENTION_DAYS)
  const { driver, database } = openDriver(url)
  const target = {
    driver,
    ...(database === null ? {} : { database }),
    ...(label === undefined ? {} : { label }),
    ...(table === undefined ? {} : { table }),
  }
  try {
    await checkNeo4j(target)
  } catch (error) {
    await driver.close()
    throw error
  }
  const store = createNeo4jStore({
    ...target,
    ...(payload === undefined ? {} : { payload }),
    ...(onNotice === undefined ? {} : { onNotice }),
    policy: { ...policy, retentionDays },
  })
  return { store, access: createNeo4jAccess(target), close: () => driver.close() }
}

function checkRetention(days: number): number {
  if (Number.isInteger(days) && days >= MIN_RETENTION_DAYS && days <= MAX_RETENTION_DAYS) return days
  const takes = `a whole number from ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS}`
  throw new UnstuckError('INVALID_CONFIG', `EMBED_JOB_RETENTION_DAYS: got ${days}, takes ${takes}`)
}

/** Separates user, password and database from the address, as the driver requires. */
export function openDriver(url: string): { driver: Driver; database: string | null } {
  const takes = 'neo4j://user:password@host:port/database'
  // The address may hold a password, so no error shows it.
  if (!URL.canParse(url)) throw invalidArgument('url', url, takes, { withhold: true })
  const parsed = new URL(url)
  if (!schemes.includes(parsed.protocol)) throw invalidArgument('url', parsed.protocol, takes)
  const auth = neo4j.auth.basic(decodeURIComponent(parsed.username), decodeURIComponent(parsed.password))
  const database = parsed.pathname.replace(/^\//, '')
  sendAtOnce(parsed.port === '' ? DEFAULT_PORT : Number(parsed.port))
  const driver = neo4j.driver(`${parsed.protocol}//${parsed.host}`, auth, {
    userAgent: 'unstuck',
    connectionAcquisitionTimeout: 30_000,
    maxTransactionRetryTime: 15_000,
  })
  return { driver, database: database === '' ? null : database }
}
