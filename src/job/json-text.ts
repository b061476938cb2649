import { invalidArgument } from '../errors/index.ts'

const TAKES = 'JSON: no cycles, functions, bigints, NaN or Infinity, and no \\u0000 or lone surrogate'
/** Deeper data is checked value by value, which also finds cycles. */
const MAX_PLAIN_DEPTH = 20

/** JSON that PostgreSQL accepts: no NUL or lone surrogate in text, and no NaN, Infinity, cycle or bigint. */
export function jsonText(name: string, value: unknown): string {
  let json: string | undefined
  try {
    // A replacer call per value would take most of the time.
    json = isPlain(value, MAX_PLAIN_DEPTH) ? JSON.stringify(value) : JSON.stringify(value, requireData)
  } catch (cause) {
    throw invalidArgument(name, value, TAKES, { withhold: true, cause })
  }
  if (json === undefined || hasUnstorable(json)) throw invalidArgument(name, value, TAKES, { withhold: true })
  return json
}

function requireData(_: string, inner: unknown): unknown {
  if (typeof inner === 'number' && !Number.isFinite(inner)) throw new TypeError('not a finite number')
  // JSON.stringify would drop these silently.
  if (typeof inner === 'function' || typeof inner === 'symbol') throw new TypeError('not data')
  return inner
}

/** Contains nothing that JSON silently drops or changes, and no `toJSON`. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object')
    return typeof value === 'string' || typeof value === 'boolean' || value === undefined
  if (value === null) return true
  if (depth === 0 || 'toJSON' in value) return false
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth - 1))
  const fields = value as Record<string, unknown>
  for (const key in fields) if (!isPlain(fields[key], depth - 1)) return false
  return true
}

/**
 * An even number of backslashes before u0000 is plain text; after an odd number it is the character itself. Complete
 * surrogate pairs are never escaped.
 */
function hasUnstorable(json: string): boolean {
  return json.includes('\\u') && /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)
}
