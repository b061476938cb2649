// The clients that a caller may have a transaction open in, recognised by their methods: none of their packages is imported.
import { clientError } from './client-error.ts'

export type Row = Record<string, unknown>

/** pg's Client, PoolClient and Pool, TypeORM's EntityManager and QueryRunner, and anything like them. */
export interface QueryClient {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] } | readonly unknown[]>
}

/** The client that a handler's `tx` gets. */
export interface PgClient {
  query(text: string, params?: unknown[]): Promise<{ rows: Row[] }>
}

/** postgres.js: `sql` itself, or the `sql` of `sql.begin`. */
export interface UnsafeClient {
  unsafe(text: string, params: never[]): PromiseLike<readonly unknown[]>
}

/** Drizzle, over any driver of PostgreSQL. */
export interface DrizzleClient {
  execute(query: never): PromiseLike<unknown>
  transaction(...args: never[]): unknown
}

export interface KyselyClient {
  withoutPlugins(): { executeQuery(query: never): Promise<{ rows: unknown[] }> }
  readonly isTransaction: boolean
}

export interface KnexClient {
  raw(...args: never[]): unknown
  readonly client: { acquireConnection(): Promise<unknown> }
}

/** Prisma's client, or that of an interactive transaction. */
export interface PrismaClient {
  $queryRawUnsafe(text: string, ...params: never[]): PromiseLike<unknown>
}

export type SqlClient = QueryClient | UnsafeClient | DrizzleClient | KyselyClient | KnexClient | PrismaClient

type Query = (text: string, params: unknown[]) => Promise<Row[]>

interface ClientShape {
  name: string
  fits(client: Methods): boolean
  query(client: Methods): Query
  /** Whether the client surely works outside of a transaction. pg's Client does not say. */
  isOutside(client: Methods): boolean
  /** How a transaction is opened in it. */
  open: string
}

type Answer = { rows: Row[] } | readonly Row[]

/** The methods of all clients; `fits` says which of them exist. */
export interface Methods {
  unsafe(text: string, params: unknown[]): Promise<Answer>
  query(text: string, params: unknown[]): Promise<Answer>
  execute(query: object): Promise<Answer>
  $queryRawUnsafe(text: string, ...params: unknown[]): Promise<Row[]>
  withoutPlugins(): { executeQuery(query: object): Promise<{ rows: Row[] }> }
  client?: Connections
  isTransaction?: boolean
  isTransactionActive?: boolean
  queryRunner?: { isTransactionActive: boolean }
  totalCount?: number
}

/** The connections of Knex, or the one of its transaction. */
interface Connections {
  acquireConnection(): Promise<{ query(text: string, params: unknown[]): Promise<Answer> }>
  releaseConnection(connection: object): Promise<void>
}

const has = (client: object, ...names: string[]) =>
  names.every((name) => typeof (client as Record<string, unknown>)[name] === 'function')

/** Drizzle and pg answer `{ rows }`, postgres.js and TypeORM the rows. */
const rowsOf = (answer: Answer): Row[] => ('rows' in answer ? answer.rows : [...answer])

const withClientError = (query: Query): Query => {
  return async (text, params) => {
    try {
      return await query(text, params)
    } catch (error) {
      throw clientError(error)
    }
  }
}

/** The first that fits decides: Drizzle, for one, has an object named `query`. */
const shapes: ClientShape[] = [
  {
    name: 'postgres.js',
    fits: (client) => has(client, 'unsafe'),
    query: (client) => async (text, params) => rowsOf(await client.unsafe(text, params)),
    isOutside: (client) => has(client, 'begin') && !has(client, 'savepoint'),
    open: 'sql.begin((tx) => …)',
  },
  {
    name: 'Prisma',
    fits: (client) => has(client, '$queryRawUnsafe'),
    query: (client) => withClientError((text, params) => client.$queryRawUnsafe(text, ...params)),
    isOutside: (client) => has(client, '$connect'),
    open: 'prisma.$transaction((tx) => …)',
  },
  {
    name: 'Kysely',
    fits: (client) => has(client, 'withoutPlugins', 'executeQuery'),
    // A plugin such as CamelCasePlugin would rename columns, and keys inside payloads.
    query: (client) => async (text, params) =>
      (await client.withoutPlugins().executeQuery(kyselyQuery(text, params))).rows,
    isOutside: (client) => client.isTransaction === false,
    open: 'db.transaction().execute((tx) => …)',
  },
  {
    name: 'Knex',
    fits: (client) => has(client, 'raw', 'queryBuilder') && has(client.client ?? {}, 'acquireConnection'),
    query: (client) => (text, params) => queryKnex(client, text, params),
    isOutside: (client) => client.isTransaction !== true,
    open: 'knex.transaction((tx) => …)',
  },
  {
    name: 'Drizzle',
    fits: (client) => has(client, 'execute', 'transaction') && !has(client, 'query'),
    query: (client) =>
      withClientError(async (text, params) => rowsOf(await client.execute(drizzleQuery(text, params)))),
    isOutside: (client) => !has(client, 'rollback'),
    open: 'db.transaction((tx) => …)',
  },
  {
    name: 'TypeORM',
    fits: (client) =>
      has(client, 'query') && (has(client, 'createQueryBuilder') || has(client, 'startTransaction')),
    query: (client) => withClientError(async (text, params) => rowsOf(await client.query(text, params))),
    isOutside: (client) => (client.queryRunner ?? client).isTransactionActive !== true,
    open: 'dataSource.transaction((tx) => …)',
  },
  {
    name: 'pg',
    fits: (client) => has(client, 'query'),
    query: (client) => async (text, params) => rowsOf(await client.query(text, params)),
    isOutside: (client) => has(client, 'connect', 'end') && typeof client.totalCount === 'number',
    open: "a client of pool.connect(), after query('begin')",
  },
]

export function shapeOf(client: unknown): ClientShape | undefined {
  if ((typeof client !== 'object' && typeof client !== 'function') || client === null) return undefined
  return shapes.find((shape) => shape.fits(client as Methods))
}

/** As CompiledQuery.raw of Kysely makes it. */
function kyselyQuery(text: string, params: unknown[]): object {
  const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
  return { sql: text, parameters: params, query, queryId: { queryId: 'unstuck' } }
}

/** Drizzle asks a query for its text, as it does with the value of its own `sql`. */
function drizzleQuery(text: string, params: unknown[]): object {
  const query = { getSQL: () => query, toQuery: () => ({ sql: text, params }) }
  return query
}

/** On the connection itself: `raw` takes `?` for parameters and passes rows through hooks that may rename columns. */
async function queryKnex(client: Methods, text: string, params: unknown[]): Promise<Row[]> {
  const connections = client.client as Connections
  const connection = await connections.acquireConnection()
  try {
    return rowsOf(await connection.query(text, params))
  } finally {
    if (client.isTransaction !== true) await connections.releaseConnection(connection)
  }
}
