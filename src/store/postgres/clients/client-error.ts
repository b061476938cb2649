// Clients wrap the errors of PostgreSQL in their own, whose message may show the parameters, and with them payloads.

/** The error of PostgreSQL inside that of a client, or the error itself if there is none. */
export function clientError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return prismaError(error) ?? causeOf(error) ?? error
}

const SQL_STATE = /^[0-9A-Z]{5}$/

/** Drizzle's `cause` and TypeORM's `driverError`. */
function causeOf(error: Error): Error | undefined {
  const { cause, driverError } = error as { cause?: unknown; driverError?: unknown }
  return [driverError, cause].find((inner): inner is Error => inner instanceof Error && 'code' in inner)
}

interface PrismaMeta {
  /** SQLSTATE and message, of the engines before version 7. */
  code?: unknown
  message?: unknown
  driverAdapterError?: { cause?: { originalCode?: unknown; originalMessage?: unknown } }
}

function prismaError(error: Error): Error | undefined {
  const { meta } = error as { meta?: PrismaMeta }
  if (typeof meta !== 'object' || meta === null) return undefined
  const original = meta.driverAdapterError?.cause
  const code = original?.originalCode ?? meta.code
  const message = original?.originalMessage ?? meta.message
  if (typeof code !== 'string' || !SQL_STATE.test(code)) return undefined
  return Object.assign(new Error(typeof message === 'string' ? message : error.message, { cause: error }), {
    code,
  })
}
