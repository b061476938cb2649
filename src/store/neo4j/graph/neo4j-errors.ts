// Translates errors of Neo4j and its driver to the error catalog. Nothing else does.
import { setTimeout as sleep } from 'node:timers/promises'
import { isRetriableError } from 'neo4j-driver'
import { type ErrorCode, isUnstuckError, UnstuckError } from '../../../errors/index.ts'

interface Trouble {
  /** Prefix of the code. */
  state: string
  code: ErrorCode
  /** Replaces the driver's message, which stays as the cause. */
  message?: string
  hint?: string
}

const APOC_HINT =
  'Put apoc-core of the same version as the server into its plugins folder and restart it; ' +
  'if the server has an allowlist of procedures, add apoc.periodic.*.'

const LEADER_HINT =
  'This member of the cluster takes no writes, or the database is read-only: ' +
  'use neo4j:// instead of bolt://, so that the leader is found.'

const outOfMemory: Trouble = {
  state: 'Neo.TransientError.General.OutOfMemoryError',
  code: 'DATABASE_OUT_OF_MEMORY',
  hint: 'Raise server.memory.heap.max_size, or the db.memory.transaction settings if there are any.',
}
/** The pool, the transaction or the heap; some of them of another class than the others. */
const MEMORY = /^Neo\.\w+\.General\.(\w*OutOfMemoryError|TransactionMemoryLimit)$/

const troubles: Trouble[] = [
  {
    state: 'Neo.ClientError.Security.CredentialsExpired',
    code: 'PERMISSION_DENIED',
    hint: 'The first password has to be changed once, with ALTER CURRENT USER SET PASSWORD.',
  },
  {
    state: 'Neo.ClientError.Security',
    code: 'PERMISSION_DENIED',
    hint: 'Check the user and the password of the address.',
  },
  // With neo4j:// the driver turns the first two into SessionExpired and looks up the leader before it retries.
  { state: 'Neo.ClientError.Cluster.NotALeader', code: 'DATABASE_UNREACHABLE', hint: LEADER_HINT },
  {
    state: 'Neo.ClientError.General.ForbiddenOnReadOnlyDatabase',
    code: 'DATABASE_UNREACHABLE',
    hint: LEADER_HINT,
  },
  {
    state: 'Neo.ClientError.General.WriteOnReadOnlyAccessDatabase',
    code: 'DATABASE_UNREACHABLE',
    hint: LEADER_HINT,
  },
  { state: 'Neo.ClientError.Procedure.ProcedureNotFound', code: 'NOT_INSTALLED', hint: APOC_HINT },
  {
    state: 'Neo.ClientError.Database.DatabaseNotFound',
    code: 'INVALID_CONFIG',
    hint: 'Create the database, or name another one.',
  },
  { state: 'Neo.ClientError.Transaction.TransactionTimedOut', code: 'DATABASE_TIMEOUT' },
  { state: 'Neo.TransientError.Transaction.DeadlockDetected', code: 'DATABASE_CONFLICT' },
  { state: 'Neo.TransientError.Transaction.LockClientStopped', code: 'DATABASE_TIMEOUT' },
  { state: 'Neo.TransientError', code: 'DATABASE_UNREACHABLE' },
  { state: 'Neo.DatabaseError', code: 'DATABASE_UNREACHABLE' },
  {
    state: 'ServiceUnavailable',
    code: 'DATABASE_UNREACHABLE',
    message: 'Neo4j does not answer',
    hint: 'Is the server running, and are scheme, host and port of the address right?',
  },
  { state: 'SessionExpired', code: 'DATABASE_UNREACHABLE' },
]

/** Runs a database call and throws only errors of the catalog, or bugs. */
export async function translated<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw translateError(error)
  }
}

function translateError(error: unknown): unknown {
  if (isUnstuckError(error) || !(error instanceof Error)) return error
  const state = stateOf(error)
  const trouble = MEMORY.test(state) ? outOfMemory : troubles.find((known) => state.startsWith(known.state))
  if (trouble === undefined) return error
  return new UnstuckError(trouble.code, trouble.message ?? error.message, {
    cause: error,
    details: { neo4jCode: state },
    ...(trouble.hint === undefined ? {} : { hint: trouble.hint }),
  })
}

const MAX_RETRY_MS = 15_000
const FIRST_WAIT_MS = 500

/**
 * For statements that manage their own transactions, which the driver does not retry. All of them are idempotent. An
 * unreachable server is reported at once.
 */
export async function retried<T>(
  run: () => Promise<T>,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS, waitedMs = 0; ; waitedMs += waitMs, waitMs *= 2) {
    try {
      return await run()
    } catch (error) {
      const isPassing = isRetriableError(error) && stateOf(error as Error) !== 'ServiceUnavailable'
      if (!isPassing || waitedMs + waitMs > MAX_RETRY_MS) throw error
      await wait(waitMs)
    }
  }
}

const collisions = new Set([
  'Neo.ClientError.Schema.ConstraintValidationFailed',
  'Neo.ClientError.Statement.EntityNotFound',
])

/** A concurrent call was faster: repeating this one finds its result. */
export class Collision extends Error {}

export function isCollision(error: unknown): boolean {
  return error instanceof Collision || (error instanceof Error && collisions.has(stateOf(error)))
}

/** A constraint cannot be created: the application has a plain index on the same property. */
export function isOtherIndex(error: unknown): boolean {
  return error instanceof Error && stateOf(error) === 'Neo.ClientError.Schema.IndexAlreadyExists'
}

function stateOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export function apocMissing(): UnstuckError {
  return new UnstuckError('NOT_INSTALLED', 'Neo4j has no procedure apoc.periodic.iterate', {
    hint: APOC_HINT,
  })
}
