import { invalidArgument, isUnstuckError, UnstuckError } from '../errors/index.ts'
import { findJsonLoss, isPlainObject, showPath } from './json-loss.ts'

const TAKES = 'JSON without \\u0000 and lone surrogates'
/** Deeper data is checked value by value, which also finds cycles. */
const MAX_PLAIN_DEPTH = 20

/** JSON that PostgreSQL accepts and that lost nothing. Errors name places and kinds, never values. */
export function jsonText(name: string, value: unknown): string {
  let json: string | undefined
  try {
    if (!isPlain(value, MAX_PLAIN_DEPTH)) requireNoLoss(name, value)
    json = JSON.stringify(value)
  } catch (cause) {
    if (isUnstuckError(cause)) throw cause
    throw invalidArgument(name, value, TAKES, { withhold: true, cause })
  }
  if (json === undefined || hasUnstorable(json)) throw invalidArgument(name, value, TAKES, { withhold: true })
  return json
}

function requireNoLoss(name: string, value: unknown): void {
  const loss = findJsonLoss(value)
  if (loss === undefined) return
  const { kind, takes } = loss
  const argument = `${name}${showPath(loss.path)}`
  throw new UnstuckError('INVALID_ARGUMENT', `${argument}: got ${kind}, takes ${takes}`, {
    details: { argument, got: kind, takes },
  })
}

/** Contains nothing that JSON silently drops or changes, and no `toJSON`. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null) return true
  if (depth === 0 || 'toJSON' in value) return false
  if (Array.isArray(value)) {
    // By index: `every` skips holes, which JSON writes as null.
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], depth - 1)) return false
    return true
  }
  if (!isPlainObject(value)) return false
  const fields = value as Record<string, unknown>
  for (const key in fields) {
    const field = fields[key]
    if (field !== undefined && !isPlain(field, depth - 1)) return false
  }
  return true
}

/**
 * An even number of backslashes before u0000 is plain text; after an odd number it is the character itself. Complete
 * surrogate pairs are never escaped.
 */
function hasUnstorable(json: string): boolean {
  return json.includes('\\u') && /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)
}
