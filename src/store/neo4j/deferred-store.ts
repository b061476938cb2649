// For compose: the driver is an optional peer, so it is imported with the first call and not before.
import { UnstuckError } from '../../errors/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { AccessStore } from '../access-store.ts'
import { notSupported } from '../capability.ts'
import type { JobStore } from '../job-store.ts'
import type * as Neo4j from './index.ts'
import { neo4jLacks } from './lacks.ts'
import type { Neo4jJobStore } from './open-neo4j-store.ts'

export function isNeo4jUrl(url: string | null): url is string {
  return url !== null && /^(neo4j|bolt)(\+s|\+ssc)?:\/\//.test(url)
}

export interface DeferredNeo4j {
  store: JobStore
  transaction: () => Promise<never>
  /** Nothing of what a server of the HTTP API needs is kept in Neo4j. */
  access: AccessStore
  close: () => Promise<void>
}

export function deferNeo4jStore(url: string, policy: Policy): DeferredNeo4j {
  let opening: Promise<Neo4jJobStore> | undefined
  const open = () => {
    // One that failed is opened anew by the next call: the server may be back.
    opening ??= openStore(url, policy).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const store = new Proxy({ lacks: neo4jLacks } as JobStore, {
    get: (known, name) =>
      name in known || typeof name === 'symbol' || name === 'then'
        ? (Reflect.get(known, name) as unknown)
        : async (...args: unknown[]) => {
            const verbs = (await open()) as unknown as Record<string, (...args: unknown[]) => unknown>
            return verbs[name]?.(...args)
          },
  })
  const transaction = async (): Promise<never> => {
    throw notSupported('Neo4j', 'transactions')
  }
  const access = new Proxy({} as AccessStore, {
    get: () => async () => Promise.reject(notSupported('Neo4j', 'http')),
  })
  return { store, transaction, access, close: async () => (await opening?.catch(() => null))?.close() }
}

async function openStore(url: string, policy: Policy): Promise<Neo4jJobStore> {
  const { openNeo4jStore } = await importNeo4j()
  return openNeo4jStore({ url, policy, retentionDays: policy.retentionDays })
}

/** Constraints and indexes are all there is to install. */
export function deferNeo4jInstaller(url: string) {
  const refuse = (): never => {
    const message = 'Neo4j is installed with migrate up and removed with migrate down'
    throw new UnstuckError('NOT_SUPPORTED', message)
  }
  return {
    up: () => withDriver(url, ({ installNeo4j }, target) => installNeo4j(target)),
    down: async () => {
      await withDriver(url, ({ removeNeo4j }, target) => removeNeo4j(target))
      return true
    },
    plan: refuse,
    status: refuse,
    sql: refuse,
    rolesSql: refuse,
  }
}

async function withDriver(
  url: string,
  act: (neo4j: typeof Neo4j, target: Neo4j.InstallOptions) => Promise<void>,
): Promise<void> {
  const neo4j = await importNeo4j()
  const { driver, database } = neo4j.openDriver(url)
  try {
    await act(neo4j, { driver, ...(database === null ? {} : { database }) })
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
