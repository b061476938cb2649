// Transactions of Neo4j, and the statements of ../cypher in them. The driver retries transient errors itself.
import type { Driver, ManagedTransaction } from 'neo4j-driver'
import { UnstuckError } from '../../../errors/index.ts'
import { readCypher } from './cypher-files.ts'
import { isCollision, retried, translated } from './neo4j-errors.ts'

export type Row = { [name: string]: unknown }
/** Runs one statement of ../cypher by name. */
export type Run = (name: string, parameters?: { [name: string]: unknown }) => Promise<Row[]>

export interface Graph {
  readonly label: string
  read<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** `work` may run more than once; only the writes of its last run are kept. */
  write<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** Runs a statement that manages its own transactions, such as those of APOC. */
  call(name: string, parameters?: { [name: string]: unknown }): Promise<Row[]>
}

export interface GraphOptions {
  driver: Driver
  database?: string
  label: string
}

const MAX_COLLISIONS = 20

export function openGraph({ driver, database, label }: GraphOptions): Graph {
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
      const { records } = await tx.run(readCypher(name, label), parameters)
      return records.map((record) => record.toObject())
    }
  return {
    label,
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
