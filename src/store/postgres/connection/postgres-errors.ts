// Translates errors of PostgreSQL and its driver to the error catalog. Nothing else does.
import {
  type ErrorCode,
  errorCatalog,
  invalidArgument,
  isUnstuckError,
  UnstuckError,
} from '../../../errors/index.ts'

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
/** Network errors that no server has answered: the address may be wrong. */
const unanswered = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'])
const conflicts = new Set(['40001', '40P01'])
/** Errors about a value before our functions see it. */
const badValues = new Set(['22P02', '22P05', '22007', '22008', '22003', '22021'])
/** SQLSTATE classes of constraints, limits and triggers. */
const refusals = ['22', '23', '44', '54', 'P0']

interface Trouble {
  /** SQLSTATE class prefix. */
  state: string
  meaning: string
  /** Default: DATABASE_UNREACHABLE. */
  code?: ErrorCode
  hint?: string
}

/**
 * The server answers but cannot do its work right now. XX000 is included because poolers and extensions raise it for
 * transient problems too. XX001 and XX002 are not: corrupted data does not heal, and must be reported as it is.
 */
const troubles: Trouble[] = [
  {
    state: '25006',
    code: 'DATABASE_READ_ONLY',
    meaning: 'the database takes no writes here',
    hint: 'DATABASE_URL must name the primary; UNSTUCK_READ_URL may name a standby. After a failover this resolves itself.',
  },
  { state: '53100', meaning: 'the database has no disk space left' },
  { state: '53200', meaning: 'the database has no memory left' },
  {
    state: '53300',
    meaning: 'the database takes no more connections',
    hint: 'Raise max_connections, or connect through a pooler.',
  },
  { state: '53', meaning: 'the database lacks resources' },
  { state: '58', meaning: 'the system of the database failed' },
  { state: 'XX000', meaning: 'the database failed inside' },
]

function translateError(error: unknown, { isLook }: TranslateOptions): unknown {
  if (isUnstuckError(error) || !(error instanceof Error)) return error
  const code = codeOf(error)
  const trouble = troubles.find(({ state }) => code.startsWith(state))
  if (trouble !== undefined) return isLook === true ? error : troubleError(trouble, code, error)
  const known = translate(code, error)
  if (known === null) return error
  const hint = hintOf(known, code, error)
  return new UnstuckError(known, messageOf(error), {
    cause: error,
    details: { sqlState: code },
    ...(hint === undefined ? {} : { hint }),
  })
}

function troubleError({ meaning, hint, code: known }: Trouble, code: string, error: Error): UnstuckError {
  const told = hint ?? textOf(error, 'hint')
  return new UnstuckError(known ?? 'DATABASE_UNREACHABLE', `${meaning}: ${error.message}`, {
    cause: error,
    details: { sqlState: code },
    ...(told === undefined ? {} : { hint: told }),
  })
}

export const INSTALL_HINT = 'unstuck migrate up installs it; UNSTUCK_SCHEMA names another schema.'

function hintOf(known: ErrorCode, code: string, error: Error): string | undefined {
  // PostgreSQL's hint suggests casts, since it only knows the function with other types.
  if (known === 'NOT_INSTALLED') return INSTALL_HINT
  if (code.startsWith('28')) return 'Check the user and the password in DATABASE_URL.'
  if (unanswered.has(code) || error.message.includes('timeout exceeded when trying to connect'))
    return 'Is the server running, and are host and port in DATABASE_URL right?'
  if (code === '3D000') return 'Create the database, or correct its name in DATABASE_URL.'
  if (code === '08P01' && error.message.includes('startup parameter'))
    return 'A pooler answers here: set UNSTUCK_MIGRATE_URL to a direct address.'
  // PostgreSQL suggests CASCADE, which would drop objects of others; the detail names what depends on it.
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
  if (refusals.some((state) => code.startsWith(state))) return 'ROW_REFUSED'
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
  // Node reports one error per resolved address.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0])
  return ''
}

/** The error for several addresses has no message of its own, and the one for a NUL speaks of bytes. */
function messageOf(error: Error): string {
  if (codeOf(error) === '22021' && error.message.includes('0x00'))
    return 'a text: got \\u0000 in it, takes text without this character'
  const isBare = error.message === '' && error instanceof AggregateError
  return isBare && error.errors[0] instanceof Error ? error.errors[0].message : error.message
}

interface TranslateOptions {
  /** One of many reads: an error about its subject is reported as it is and does not concern the others. */
  isLook?: boolean
}

/** Runs a database call and throws only errors of the catalog, or bugs. */
export async function translated<T>(run: () => Promise<T>, options: TranslateOptions = {}): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw translateError(error, options)
  }
}

/** The whole transaction was rolled back, and may succeed if it is repeated. */
export function conflictOf(error: unknown): UnstuckError | null {
  if (!(error instanceof Error) || !conflicts.has(codeOf(error))) return null
  const options = { cause: error, details: { sqlState: codeOf(error) } }
  return new UnstuckError('DATABASE_CONFLICT', error.message, options)
}

const conflictRetries = 3

/**
 * A deadlock, a serialization failure, or an upgrade that replaced a function beneath the call rolled it back, so it is
 * repeated after a short delay (C12). Inside a caller's transaction the conflict has ended that transaction, so the
 * caller has to know.
 */
export async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  let conflict: Error | undefined
  for (let retry = 1; ; retry++) {
    try {
      return await run()
    } catch (error) {
      if (conflict !== undefined && error instanceof Error && codeOf(error) === '25P02') throw conflict
      if (!(error instanceof Error) || !isConflict(error) || retry > conflictRetries) throw error
      conflict = error
      await new Promise((resolve) => setTimeout(resolve, 20 * retry * Math.random()))
    }
  }
}

/** A running function body met a new version of a function it calls: other arguments, or another result. */
const replacements = new Set(['42883', '42804'])

function isConflict(error: Error): boolean {
  if (error.message.includes('cache lookup failed for function')) return true
  if (!isUnstuckError(error)) return replacements.has(codeOf(error))
  return error.code === 'DATABASE_CONFLICT' || replacements.has(String(error.details['sqlState']))
}

/** A cursor that the id type cannot parse: PostgreSQL would complain about types instead of the argument. */
export async function withCursor<T>(cursor: string | undefined, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const isUnread = isUnstuckError(error, 'INVALID_ARGUMENT') && error.details?.['sqlState'] === '22P02'
    if (cursor === undefined || !isUnread) throw error
    throw invalidArgument('cursor', cursor, 'the next cursor of an earlier page', { cause: error })
  }
}
