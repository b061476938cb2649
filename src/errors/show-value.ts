const MAX_SHOWN_LENGTH = 60
// Characters that JSON does not escape but terminals and log readers interpret: C1 controls, line separators, and marks
// that reverse the reading direction.
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** A value for an error message: one line in the style of JSON, at most 60 characters, without control characters. */
export function showValue(value: unknown): string {
  return shorten(asJson(value).replace(UNSAFE, escapeCharacter))
}

/** The kind of a value that must not be shown. */
export function showKind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array (withheld)'
  const kind = typeof value
  return `${kind === 'object' ? 'an' : 'a'} ${kind} (withheld)`
}

function asJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      // Cut before quoting, so that a long string costs nothing.
      return JSON.stringify(value.slice(0, MAX_SHOWN_LENGTH + 1))
    case 'bigint':
      return `${value}n`
    case 'number':
      // JSON has no NaN and writes -0 as 0.
      return Object.is(value, -0) ? '-0' : String(value)
    case 'object':
      return value === null ? 'null' : objectAsJson(value)
    case 'symbol':
    case 'function':
      return `a ${typeof value}`
    default:
      return String(value)
  }
}

function objectAsJson(value: object): string {
  try {
    return JSON.stringify(value, bigintAsText) ?? 'an object'
  } catch {
    // A cycle, a getter that throws, a revoked proxy.
    return 'an object'
  }
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function shorten(text: string): string {
  if (text.length <= MAX_SHOWN_LENGTH) return text
  const cut = text.slice(0, MAX_SHOWN_LENGTH - 1)
  // Never half of a surrogate pair.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}
