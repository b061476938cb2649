import { invalidArgument } from '../errors/index.ts'

/** JSON as PostgreSQL takes it: no NUL and no half of a surrogate pair in text; JSON has no NaN, Infinity, cycle or bigint. */
export function jsonText(name: string, value: unknown): string {
  const takes = 'JSON: no cycles, functions, bigints, NaN or Infinity, and no \\u0000 or lone surrogate'
  let json: string | undefined
  try {
    json = JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner === 'number' && !Number.isFinite(inner)) throw new TypeError('not a finite number')
      // JSON.stringify would leave these out without a word.
      if (typeof inner === 'function' || typeof inner === 'symbol') throw new TypeError('not data')
      return inner
    })
  } catch (cause) {
    throw invalidArgument(name, value, takes, { withhold: true, cause })
  }
  // An escaped backslash before u0000 is plain text; an odd number of them is the character itself. Whole pairs are never
  // escaped.
  if (json === undefined || /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)) {
    throw invalidArgument(name, value, takes, { withhold: true })
  }
  return json
}
