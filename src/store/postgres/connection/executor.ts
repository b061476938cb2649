// The one method that the store needs of a database client (docs/adr/0007). Clients are recognised by their methods.
import { invalidArgument, showKind, UnstuckError } from '../../../errors/index.ts'
import { type Methods, type Row, type SqlClient, shapeOf } from '../clients/client-shapes.ts'

export type { PgClient, QueryClient, Row, SqlClient } from '../clients/client-shapes.ts'

export interface Executor {
  query(text: string, params: unknown[]): Promise<Row[]>
}

const KNOWN = 'pg, postgres.js, Drizzle, Kysely, Knex, TypeORM or Prisma'
const RECIPE =
  'Any other client takes two lines: const tx = { query: async (text, params) => rows }, which runs `text` with $1, $2 … in ' +
  'your transaction and answers the rows as objects.'

export function toExecutor(client: SqlClient): Executor {
  const shape = shapeOf(client)
  if (shape === undefined)
    throw unknownClient('client', client, `a client of ${KNOWN}, or { query(text, params) }`)
  return { query: shape.query(client as unknown as Methods) }
}

/** Refuses a client that is surely outside of a transaction: the job would be written whatever the caller's transaction does. */
export function toTransaction(tx: SqlClient): Executor {
  const shape = shapeOf(tx)
  if (shape === undefined)
    throw unknownClient('tx', tx, `an open transaction of ${KNOWN}, or { query(text, params) }`)
  if (shape.isOutside(tx as unknown as Methods))
    throw invalidArgument('tx', `the client of ${shape.name}`, `an open transaction: ${shape.open}`)
  return { query: shape.query(tx as unknown as Methods) }
}

/** Shows nothing of the client, which may hold a password. */
function unknownClient(argument: string, got: unknown, takes: string): UnstuckError {
  return new UnstuckError('INVALID_ARGUMENT', `${argument}: got ${showKind(got)}, takes ${takes}`, {
    details: { argument, got: showKind(got), takes },
    hint: RECIPE,
  })
}
