// Transactions of Neo4j, and the statements of ../cypher in them. The driver retries transient errors itself.
import type { Driver, ManagedTransaction } from 'neo4j-driver'
import { UnstuckError } from '../../../errors/index.ts'
import { payloadReader } from '../state/payload-properties.ts'
import { isCollision, retried, translated } from './neo4j-errors.ts'
import type { NodeNames } from './node-names.ts'

export type Row = { [name: string]: unknown }
/** Runs one statement of ../cypher by name. */
export type Run = (name: string, parameters?: { [name: string]: unknown }) => Promise<Row[]>

export interface Graph {
  readonly names: NodeNames
  read<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** `work` may run more than once; only the writes of its last run are kept. */
  write<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** Runs a statement that manages its own transactions, such as those of APOC. */
  call(name: string, parameters?: { [name: string]: unknown }): Promise<Row[]>
}

export interface GraphOptions {
  driver: Driver
  database?: string
  names: NodeNames
  /** Keys of the payload that are properties of a node. */
  payload?: Record<string, string>
}

const MAX_COLLISIONS = 20

export function openGraph({ driver, database, names, payload }: GraphOptions): Graph {
  const readPayload = payloadReader(payload)
  // Cluster members answer with data at least as recent as this store's own writes.
  const bookmarkManager = driver.executeQueryBookmarkManager
  const inSession = async <T>(work: (session: ReturnType<Driver['session']>) => Promise<T>): Promise<T> => {
    const session = driver.session({ bookmarkManager, ...(database === undefined ? {} : { database }) })
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }
  const withSession: typeof inSession = (work) => translated(() => inSession(work))
  const runner =
    (tx: Pick<ManagedTransaction, 'run'>): Run =>
    async (name, parameters = {}) => {
      const { records } = await tx.run(names.statement(name), names.parameters(name, parameters))
      return records.map((record) => {
        const row: Row = record.toObject()
        if (!('job' in row)) return row
        const stored = row['job'] as Row
        return { ...row, job: readPayload(names.node(stored), stored) }
      })
    }
  return {
    names,
    read: (work) => withSession((session) => session.executeRead((tx) => work(runner(tx)))),
    write: (work) =>
      afterCollisions(() => withSession((session) => session.executeWrite((tx) => work(runner(tx))))),
    call: (name, parameters) =>
      translated(() => retried(() => inSession((session) => runner(session)(name, parameters)))),
  }
}

async function afterCollisions<T>(attempt: () => Promise<T>): Promise<T> {
  for (let collision = 1; ; collision++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isCollision(error)) throw error
      if (collision === MAX_COLLISIONS)
        throw new UnstuckError('DATABASE_CONFLICT', 'others wrote the same nodes again and again', {
          cause: error,
        })
      await new Promise((resolve) => setTimeout(resolve, 5 * collision * Math.random()))
    }
  }
}
