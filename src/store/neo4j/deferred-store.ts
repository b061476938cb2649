// Used by compose: the driver is an optional peer dependency, imported with the first call.

import { UnstuckError } from '../../errors/index.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { AccessStore } from '../access-store.ts'
import { notSupported } from '../capability.ts'
import type { JobStore } from '../job-store.ts'
import type { GraphFacts } from '../ports/graph-facts.ts'
import { labelOf } from './graph/cypher-files.ts'
import type * as Neo4j from './index.ts'
import type { NodeNotice } from './state/node-notice.ts'
import { neo4jLacks } from './unsupported.ts'

export function isNeo4jUrl(url: string | null): url is string {
  return url !== null && /^(neo4j|bolt)(\+s|\+ssc)?:\/\//.test(url)
}

export interface DeferredNeo4j {
  /** The label of its jobs. */
  name: string
  store: JobStore
  transaction: () => Promise<never>
  access: AccessStore
  close: () => Promise<void>
}

/** Optional members of the port that this store lacks: without an entry they would look like verbs. */
const absent = { shards: undefined, beginWaits: undefined, endWaits: undefined }

export function deferNeo4jStore(
  url: string,
  table: TableProfile,
  onNotice?: (notice: NodeNotice) => void,
): DeferredNeo4j {
  let opening: Promise<Neo4j.OpenNeo4j> | undefined
  const open = () => {
    // A failed attempt is repeated by the next call: the server may be back.
    opening ??= openStore(url, table, onNotice).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const transaction = async (): Promise<never> => {
    throw notSupported('Neo4j', 'transactions')
  }
  return {
    name: labelOf(table),
    store: defer({ ...absent, lacks: neo4jLacks } as unknown as JobStore, async () => (await open()).store),
    transaction,
    access: defer({ hasOrderedEvents: true } as AccessStore, async () => (await open()).access),
    close: async () => (await opening?.catch(() => null))?.close(),
  }
}

/** Every verb that is not known yet opens the store first. */
function defer<Verbs extends object>(known: Verbs, open: () => Promise<Verbs>): Verbs {
  return new Proxy(known, {
    get: (_, name) =>
      name in known || typeof name === 'symbol' || name === 'then'
        ? (Reflect.get(known, name) as unknown)
        : async (...args: unknown[]) => {
            const verbs = (await open()) as Record<string, (...args: unknown[]) => unknown>
            return verbs[name]?.(...args)
          },
  })
}

async function openStore(
  url: string,
  table: TableProfile,
  onNotice?: (notice: NodeNotice) => void,
): Promise<Neo4j.OpenNeo4j> {
  const { openNeo4j } = await importNeo4j()
  const listener = onNotice === undefined ? {} : { onNotice }
  return openNeo4j({ url, table, retentionDays: table.policy.retentionDays, ...listener })
}

/** The install consists of constraints and indexes. */
export function deferNeo4jInstaller(url: string, table: TableProfile) {
  const refuse = (): never => {
    throw noTables()
  }
  return {
    place: `Neo4j, label ${labelOf(table)}`,
    keptJobs: 'The jobs were kept: they are nodes of the application.',
    up: () => withDriver(url, table, ({ installNeo4j }, target) => installNeo4j(target)),
    down: async ({ isPurge, only }: { isPurge?: boolean; only?: readonly string[] }) => {
      if (only !== undefined) throw noTables()
      if (isPurge === true) throw jobsStay()
      return withDriver(url, table, async ({ readNeo4jStatus, removeNeo4j }, target) => {
        const { applied } = await readNeo4jStatus(target)
        await removeNeo4j(target)
        return applied.length > 0
      })
    },
    status: () =>
      withDriver(url, table, async ({ readNeo4jStatus }, target) => {
        const { applied, pending } = await readNeo4jStatus(target)
        const isCurrent = pending.length === 0
        const engine = isCurrent ? ('current' as const) : ('not installed' as const)
        return {
          isInstalled: applied.length > 0,
          applied,
          pending,
          unknown: [],
          engine,
          tables: [],
          isCurrent,
        }
      }),
    // Job nodes stay, and nothing else depends on the engine.
    readUse: async () => ({ isInstalled: true, attached: [], ownJobs: 0, tokens: 0 }),
    plan: refuse,
    sql: refuse,
    rolesSql: refuse,
  }
}

/** For doctor. */
export function readNeo4jFacts(
  url: string,
  table: TableProfile,
  override: PolicyOverride,
): Promise<GraphFacts> {
  return withDriver(url, table, ({ createNeo4jStore, readGraphFacts }, target) =>
    readGraphFacts(target, createNeo4jStore(target), override),
  )
}

export function noTables(): UnstuckError {
  return new UnstuckError('NOT_SUPPORTED', 'the Neo4j store has no attach: there are no tables to look at', {
    details: { store: 'Neo4j', capability: 'attach' },
    hint: 'It is installed with unstuck migrate up, and taken out with unstuck migrate down.',
  })
}

function jobsStay(): UnstuckError {
  return new UnstuckError('NOT_SUPPORTED', 'jobs in Neo4j are nodes of the application, and are not purged', {
    hint: 'Delete them with Cypher, after unstuck migrate down.',
  })
}

async function withDriver<T>(
  url: string,
  table: TableProfile,
  act: (neo4j: typeof Neo4j, target: Neo4j.InstallOptions) => Promise<T>,
): Promise<T> {
  const neo4j = await importNeo4j()
  const { driver, database } = neo4j.openDriver(url)
  try {
    return await act(neo4j, { driver, table, ...(database === null ? {} : { database }) })
  } finally {
    await driver.close()
  }
}

async function importNeo4j(): Promise<typeof Neo4j> {
  try {
    return await import('./index.ts')
  } catch (cause) {
    throw new UnstuckError('INVALID_CONFIG', 'jobs in Neo4j need the package neo4j-driver', {
      hint: 'npm install neo4j-driver@5',
      cause,
    })
  }
}
