import { invalidArgument } from '../errors/index.ts'

/** JSON as PostgreSQL takes it. It has no NUL character in text, and JSON no NaN, Infinity, cycle or bigint. */
export function jsonText(name: string, value: unknown): string {
  const takes = 'JSON: no cycles, functions, bigints, NaN or Infinity, and no \\u0000'
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
  // An escaped backslash before u0000 is plain text; an odd number of them is the character itself.
  if (json === undefined || /(?<!\\)(?:\\\\)*\\u0000/.test(json)) {
    throw invalidArgument(name, value, takes, { withhold: true })
  }
  return json
}
