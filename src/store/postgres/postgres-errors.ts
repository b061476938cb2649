// The only translator between what PostgreSQL and its driver throw and our catalogue.
import { type ErrorCode, errorCatalog, isUnstuckError, UnstuckError } from '../../errors/index.ts'

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
const conflicts = new Set(['40001', '40P01'])
/** What PostgreSQL says of a value before our functions see it. */
const badValues = new Set(['22P02', '22P05', '22007', '22008', '22003', '22021'])

function translateError(error: unknown): unknown {
  if (isUnstuckError(error) || !(error instanceof Error)) return error
  const code = codeOf(error)
  const known = translate(code, error)
  if (known === null) return error
  const hint = hintOf(code, error)
  return new UnstuckError(known, error.message, {
    cause: error,
    details: { sqlState: code },
    ...(hint === undefined ? {} : { hint }),
  })
}

function hintOf(code: string, error: Error): string | undefined {
  if (code.startsWith('28')) return 'Check the user and the password in DATABASE_URL.'
  if (code === '3D000') return 'Create the database, or correct its name in DATABASE_URL.'
  if (code === '08P01' && error.message.includes('startup parameter'))
    return 'A pooler answers here: set UNSTUCK_MIGRATE_URL to a direct address.'
  // PostgreSQL's own hint is a CASCADE, which would drop what is not ours; the detail names what stands in the way.
  if (code === '2BP01')
    return `${textOf(error, 'detail') ?? ''} Drop it first, and make it again afterwards.`.trim()
  if (code === '42501') {
    return textOf(error, 'hint') ?? 'Use the role that owns it, or let that one grant the right.'
  }
  return textOf(error, 'hint')
}

function textOf(error: Error, field: 'detail' | 'hint'): string | undefined {
  const value = field in error ? (error as Error & { detail?: unknown; hint?: unknown })[field] : undefined
  return typeof value === 'string' ? value : undefined
}

function translate(code: string, error: Error): ErrorCode | null {
  for (const [name, entry] of Object.entries(errorCatalog)) {
    if (entry.sqlState !== null && entry.sqlState === code) return name as ErrorCode
  }
  if (conflicts.has(code)) return 'DATABASE_CONFLICT'
  if (code === '55P03') return 'LOCK_TIMEOUT'
  if (code.startsWith('28')) return 'PERMISSION_DENIED'
  if (code === '3D000') return 'INVALID_CONFIG'
  if (code === '2BP01') return 'TABLE_UNSUPPORTED'
  if (badValues.has(code)) return 'INVALID_ARGUMENT'
  // No such schema, table, function or type: nothing is installed, or an older version is.
  if (code === '3F000' || code === '42P01' || code === '42883' || code === '42704') return 'NOT_INSTALLED'
  if (code.startsWith('08') || code.startsWith('57P') || unreachable.has(code)) return 'DATABASE_UNREACHABLE'
  // pg reports these without a code.
  if (/Connection terminated|timeout exceeded when trying to connect/.test(error.message))
    return 'DATABASE_UNREACHABLE'
  return null
}

function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code
  // Node reports one error per address that a host name resolves to.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0])
  return ''
}

/** Runs a call of the database and throws only errors of the catalogue, or bugs. */
export async function translated<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw translateError(error)
  }
}

const conflictRetries = 3

/**
 * A deadlock or a serialization failure rolled the whole call back, so it is simply made again, a little later than the one
 * it collided with (C12). Where the client is in a transaction of its caller, that one is gone with the conflict, and the
 * conflict is what the caller must hear of.
 */
export async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  let conflict: UnstuckError | undefined
  for (let retry = 1; ; retry++) {
    try {
      return await run()
    } catch (error) {
      if (conflict !== undefined && error instanceof Error && codeOf(error) === '25P02') throw conflict
      if (!isUnstuckError(error, 'DATABASE_CONFLICT') || retry > conflictRetries) throw error
      conflict = error
      await new Promise((resolve) => setTimeout(resolve, 20 * retry * Math.random()))
    }
  }
}
