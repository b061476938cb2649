import { type ErrorCode, errorCatalog } from './catalog.ts'
import { showKind, showValue } from './show-value.ts'

export interface UnstuckErrorOptions {
  /** Machine-readable facts: plain JSON, no secrets. */
  details?: Record<string, unknown>
  /** One sentence on what to do next. */
  hint?: string
  cause?: unknown
}

const NAME = 'UnstuckError'

/** An error with a code of the catalogue. Expected outcomes are values instead. */
export class UnstuckError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown>
  declare readonly hint?: string
  readonly isRetryable: boolean

  constructor(code: ErrorCode, message: string, options: UnstuckErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = NAME
    this.code = code
    this.details = options.details ?? {}
    this.isRetryable = errorCatalog[code].isRetryable
    if (options.hint !== undefined) this.hint = options.hint
  }
}

/** Checks name and code, not the class: an application may load two copies of this package. */
export function isUnstuckError(value: unknown, code?: ErrorCode): value is UnstuckError {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('code' in value)) return false
  if (value.name !== NAME || typeof value.code !== 'string') return false
  return code === undefined ? Object.hasOwn(errorCatalog, value.code) : value.code === code
}

/** The database may be down; other errors are about the call. */
export const isOutage = (error: unknown): error is UnstuckError =>
  isUnstuckError(error, 'DATABASE_UNREACHABLE') || isUnstuckError(error, 'DATABASE_READ_ONLY')

export interface InvalidArgumentOptions {
  /** Shows only the kind of the value, for payloads and secrets. */
  withhold?: boolean
  cause?: unknown
}

/** `limit: got -1, takes a whole number from 1 to 10000` */
export function invalidArgument(
  name: string,
  got: unknown,
  takes: string,
  options: InvalidArgumentOptions = {},
): UnstuckError {
  const shown = options.withhold === true ? showKind(got) : showValue(got)
  return new UnstuckError('INVALID_ARGUMENT', `${name}: got ${shown}, takes ${takes}`, {
    details: { argument: name, got: shown, takes },
    ...('cause' in options ? { cause: options.cause } : {}),
  })
}
