// Refusals are RFC 9457 problems with a code and a status from the catalogue.
import { HTTPException } from 'hono/http-exception'
import type { Answer } from '../commands/command.ts'
import type { Refusal } from '../commands/permissions.ts'
import { type ErrorCode, errorCatalog, isUnstuckError, type PublicCode } from '../errors/index.ts'
import { redactText } from '../observe/redact.ts'
import type { Problem } from './contract/index.ts'

type Extras = Pick<Problem, 'hint' | 'errors' | 'token' | 'why'>

export class ApiProblem extends Error {
  readonly code: ErrorCode
  readonly extras: Extras
  /** Headers of the answer. */
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, detail: string, extras: Extras = {}, headers: Record<string, string> = {}) {
    super(detail)
    this.name = 'ApiProblem'
    this.code = code
    this.extras = extras
    this.headers = headers
  }
}

/** The value of a command, or its refusal as a problem. */
export function valueOf<Value>(answer: Answer<Value>): Value {
  if (answer.isDone) return answer.value
  throw problemOf(answer.refusal)
}

export function problemOf({ code, detail, hint, why }: Refusal): ApiProblem {
  return new ApiProblem(code, detail, {
    ...(hint === undefined ? {} : { hint }),
    ...(why === undefined ? {} : { why }),
  })
}

/** One line, without control characters, paths or stacks (FAIL-2). */
function oneLine(text: string): string {
  return redactText(text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')).slice(0, 500)
}

/** Codes whose message describes the server's setup: callers get the meaning, not the message. */
const WITHHELD: ReadonlySet<ErrorCode> = new Set([
  'INTERNAL',
  'INVALID_CONFIG',
  'DATABASE_UNREACHABLE',
  'DATABASE_READ_ONLY',
  'DATABASE_OUT_OF_MEMORY',
  'DATABASE_CONFLICT',
  'DATABASE_TIMEOUT',
  'PERMISSION_DENIED',
  'ROW_REFUSED',
  'NOT_INSTALLED',
  'SCHEMA_BEHIND',
  'SCHEMA_NEWER',
  'LOCK_TIMEOUT',
])

export function toApiProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  if (isUnstuckError(error)) {
    const { code, message, hint } = error
    const isStandby = code === 'DATABASE_READ_ONLY'
    const extras = isStandby && hint !== undefined ? { hint } : {}
    return new ApiProblem(code, WITHHELD.has(code) ? errorCatalog[code].meaning : message, extras)
  }
  if (error instanceof HTTPException) {
    if (error.status === 415)
      return new ApiProblem('UNSUPPORTED_MEDIA_TYPE', 'the content type must be application/json')
    if (error.status < 500) return new ApiProblem('INVALID_ARGUMENT', 'the body is not JSON')
  }
  return new ApiProblem('INTERNAL', errorCatalog.INTERNAL.meaning)
}

function problemBody({ code, message, extras }: ApiProblem): Problem {
  const { httpStatus, isRetryable, meaning } = errorCatalog[code]
  return {
    type: `urn:unstuck:problem:${code}`,
    title: meaning,
    status: httpStatus,
    code,
    detail: oneLine(message),
    is_retryable: isRetryable,
    ...extras,
  }
}

export function problemResponse(problem: ApiProblem, body: Problem = problemBody(problem)): Response {
  const headers = { 'content-type': 'application/problem+json', ...problem.headers }
  return new Response(JSON.stringify(body), { status: body.status, headers })
}

/** For users of document 004: the ten public codes only (OPS-1, FAIL-2). */
const publicCodeOf: Partial<Record<ErrorCode, PublicCode>> = {
  UNAUTHENTICATED: 'FORBIDDEN',
  FORBIDDEN: 'FORBIDDEN',
  READ_ONLY: 'FORBIDDEN',
  STATE_CONFLICT: 'NOT_READY',
  PRECONDITION_FAILED: 'NOT_READY',
  REQUEST_IN_PROGRESS: 'NOT_READY',
  SOURCE_GONE: 'EXPIRED',
  REQUEST_TOO_LARGE: 'TOO_LARGE',
}

export function publicProblemBody(problem: ApiProblem): Problem {
  const body = problemBody(problem)
  return { ...body, code: publicCodeOf[problem.code] ?? 'UNKNOWN', catalog_code: problem.code }
}
