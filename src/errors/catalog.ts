// The catalogue of errors. The docs, the HTTP layer and the CLI read it, so a code has one meaning everywhere.

/** Exit codes of the command line. */
export const exitCodes = {
  fine: 0,
  problemFound: 1,
  usage: 2,
  databaseUnreachable: 3,
  refused: 4,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export interface CatalogEntry {
  /** One sentence for people. */
  meaning: string
  httpStatus: number
  exitCode: ExitCode
  /** The SQLSTATE that maps to this code; null if there is none, or more than one. */
  sqlState: string | null
  /** The same call may succeed later. */
  isRetryable: boolean
}

export const errorCatalog = {
  INVALID_ARGUMENT: {
    meaning: 'An argument has an invalid type, range or format.',
    httpStatus: 400,
    exitCode: exitCodes.usage,
    sqlState: 'UN001',
    isRetryable: false,
  },
  INVALID_CONFIG: {
    meaning: 'The configuration is invalid; every problem is listed with the name of its variable.',
    httpStatus: 500,
    exitCode: exitCodes.usage,
    sqlState: null,
    isRetryable: false,
  },
  NOT_INSTALLED: {
    meaning: 'The schema, or the attachment of the table, is missing from the database.',
    httpStatus: 503,
    exitCode: exitCodes.problemFound,
    sqlState: 'UN002',
    isRetryable: false,
  },
  SCHEMA_BEHIND: {
    meaning: 'The schema in the database is too old for this version; migrate it.',
    httpStatus: 503,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  SCHEMA_NEWER: {
    meaning: 'The schema in the database is newer than this version supports; upgrade the package.',
    httpStatus: 503,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  UNKNOWN_PROFILE: {
    meaning: 'No shipped profile has this name.',
    httpStatus: 400,
    exitCode: exitCodes.usage,
    sqlState: null,
    isRetryable: false,
  },
  TABLE_NOT_FOUND: {
    meaning: 'The job table, or a column that the profile maps, does not exist.',
    httpStatus: 404,
    exitCode: exitCodes.usage,
    sqlState: null,
    isRetryable: false,
  },
  TABLE_UNSUPPORTED: {
    meaning:
      'The job table cannot be attached: no primary key, a view or foreign table, an unsupported id type, or status words that do not fit.',
    httpStatus: 422,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  TABLE_OF_ANOTHER_QUEUE: {
    meaning: 'The table belongs to another queue, such as pg-boss, which recovers its jobs itself.',
    httpStatus: 422,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  LOCK_TIMEOUT: {
    meaning: 'A lock was not granted in time; the call can be repeated.',
    httpStatus: 503,
    exitCode: exitCodes.refused,
    sqlState: '55P03',
    isRetryable: true,
  },
  DATABASE_UNREACHABLE: {
    meaning: 'The database could not be reached, or the connection broke during the call.',
    httpStatus: 503,
    exitCode: exitCodes.databaseUnreachable,
    sqlState: null,
    isRetryable: true,
  },
  DATABASE_READ_ONLY: {
    meaning: 'The database is read-only: it is a standby, or writes are turned off for it or for the role.',
    httpStatus: 503,
    exitCode: exitCodes.databaseUnreachable,
    sqlState: '25006',
    isRetryable: true,
  },
  DATABASE_OUT_OF_MEMORY: {
    meaning:
      'Neo4j rolled the call back because it, or the transaction, is out of memory; nothing was changed.',
    httpStatus: 503,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: true,
  },
  POOL_EXHAUSTED: {
    meaning:
      'No database connection became free for a transaction in time; the job is released without spending an attempt.',
    httpStatus: 503,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: true,
  },
  DATABASE_CONFLICT: {
    meaning:
      'The database rolled the call back because of a concurrent transaction (SQLSTATE 40001 or 40P01); nothing was changed.',
    httpStatus: 409,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: true,
  },
  DATABASE_TIMEOUT: {
    meaning: 'A statement or a transaction took longer than its limit, or was cancelled; it was rolled back.',
    httpStatus: 503,
    exitCode: exitCodes.problemFound,
    sqlState: '57014',
    isRetryable: true,
  },
  PERMISSION_DENIED: {
    meaning: 'The database role lacks a permission.',
    httpStatus: 403,
    exitCode: exitCodes.refused,
    sqlState: '42501',
    isRetryable: false,
  },
  ROW_REFUSED: {
    meaning:
      'A constraint or a trigger of the job table refused the write, or a value is too large; nothing was changed.',
    httpStatus: 422,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  LEASE_LOST: {
    meaning: 'The caller no longer holds the lease of this job; nothing was changed.',
    httpStatus: 409,
    exitCode: exitCodes.refused,
    sqlState: 'UN003',
    isRetryable: false,
  },
  LEASE_REQUIRED: {
    meaning:
      'The job is leased, and the caller tried to change its status without the lease; nothing was changed. Only in mode enforce, if it refuses such writes.',
    httpStatus: 409,
    exitCode: exitCodes.refused,
    sqlState: 'UN004',
    isRetryable: false,
  },
  WRONG_MODE: {
    meaning: 'The table is in observe mode, in which unstuck changes no rows; nothing was changed.',
    httpStatus: 409,
    exitCode: exitCodes.refused,
    sqlState: 'UN005',
    isRetryable: false,
  },
  JOB_NOT_FOUND: {
    meaning: 'No job has this id, the caller may not see it, or no dead job has this cause.',
    httpStatus: 404,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  JOB_DEAD: {
    meaning: 'The awaited job is dead; the details have its code and reason.',
    httpStatus: 409,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  JOB_CANCELLED: {
    meaning: 'The awaited job was cancelled.',
    httpStatus: 409,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  INVALID_RESULT: {
    meaning: 'The awaited job has succeeded, but its stored result does not match the schema of its type.',
    httpStatus: 500,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  WAIT_TIMEOUT: {
    meaning: 'The job did not end within the timeout of the wait; it continues.',
    httpStatus: 504,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: true,
  },
  PRECONDITION_FAILED: {
    meaning: 'A precondition of the caller does not hold; nothing was changed.',
    httpStatus: 412,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  UNAUTHENTICATED: {
    meaning: 'The token is missing, unknown, expired or revoked.',
    httpStatus: 401,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  FORBIDDEN: {
    meaning: 'The caller is authenticated but lacks the permission.',
    httpStatus: 403,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  READ_ONLY: {
    meaning: 'The server is read-only; nothing was changed.',
    httpStatus: 403,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  NOT_FOUND: {
    meaning: 'Nothing exists at this address or under this name.',
    httpStatus: 404,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
  STATE_CONFLICT: {
    meaning: 'The current state of the job or resource does not allow this; nothing was changed.',
    httpStatus: 409,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  SOURCE_GONE: {
    meaning: 'The source of the job no longer exists, so it cannot run again.',
    httpStatus: 409,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: false,
  },
  REQUEST_IN_PROGRESS: {
    meaning: 'A request with the same idempotency key is in progress.',
    httpStatus: 409,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: true,
  },
  REQUEST_TOO_LARGE: {
    meaning: 'The body of the request is larger than the server accepts.',
    httpStatus: 413,
    exitCode: exitCodes.usage,
    sqlState: null,
    isRetryable: false,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The body of the request is not declared as application/json.',
    httpStatus: 415,
    exitCode: exitCodes.usage,
    sqlState: null,
    isRetryable: false,
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'The idempotency key was already used for another request.',
    httpStatus: 422,
    exitCode: exitCodes.usage,
    sqlState: null,
    isRetryable: false,
  },
  RATE_LIMITED: {
    meaning: 'The caller exceeded its request limit; the Retry-After header says when to try again.',
    httpStatus: 429,
    exitCode: exitCodes.refused,
    sqlState: null,
    isRetryable: true,
  },
  NOT_SUPPORTED: {
    meaning: 'The store or the shape of the table does not support this; see its capabilities.',
    httpStatus: 501,
    exitCode: exitCodes.refused,
    sqlState: 'UN006',
    isRetryable: false,
  },
  INTERRUPTED: {
    meaning: 'The command was interrupted.',
    httpStatus: 503,
    exitCode: exitCodes.interrupted,
    sqlState: null,
    isRetryable: true,
  },
  INTERNAL: {
    meaning: 'A bug in unstuck; please report it.',
    httpStatus: 500,
    exitCode: exitCodes.problemFound,
    sqlState: null,
    isRetryable: false,
  },
} as const satisfies Record<string, CatalogEntry>

export type ErrorCode = keyof typeof errorCatalog
