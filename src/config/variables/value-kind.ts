// What a value may look like: one reader and one description for each kind, so that an error, the reference and the check
// cannot disagree.

export type ValueKind =
  | { type: 'whole'; unit: Unit; min: number; max: number }
  | { type: 'decimal'; min: number; max: number }
  | { type: 'share' }
  | { type: 'choice'; words: readonly string[] }
  | { type: 'url'; protocols: readonly string[] }
  | { type: 'schema' }
  | { type: 'text' }

export type Unit = keyof typeof unitFactors

/** To what the program counts in: durations are milliseconds everywhere inside. */
const unitFactors = {
  seconds: 1000,
  milliseconds: 1,
  days: 1,
  attempts: 1,
  jobs: 1,
  calls: 1,
  bytes: 1,
  port: 1,
}

/** The longest wait that a timer of the runtime can make; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1
const MAX_TIMER_SEC = Math.floor(MAX_TIMER_MS / 1000)

export function seconds(max = MAX_TIMER_SEC, min = 1): ValueKind {
  return { type: 'whole', unit: 'seconds', min, max }
}

export function milliseconds(min: number, max = MAX_TIMER_MS): ValueKind {
  return { type: 'whole', unit: 'milliseconds', min, max }
}

/** The value in the program's unit, or undefined where the text is refused. */
export function readText(kind: ValueKind, text: string): string | number | undefined {
  switch (kind.type) {
    case 'whole': {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
      return isWithin(kind, value) ? value * unitFactors[kind.unit] : undefined
    }
    case 'decimal': {
      const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
      return isWithin(kind, value) ? value : undefined
    }
    case 'share':
      return readShare(text)
    case 'choice':
      return kind.words.includes(text) ? text : undefined
    case 'url':
      return isUrl(text, kind.protocols) ? text : undefined
    case 'schema':
      return isSchemaName(text) ? text : undefined
    case 'text':
      return isText(text) ? text : undefined
  }
}

/** The same for a value that is no text: a number of a config file, already in the program's unit. */
export function readNumber(kind: ValueKind, value: number): number | undefined {
  switch (kind.type) {
    case 'whole':
      return Number.isInteger(value) && isWithin(kind, value / unitFactors[kind.unit]) ? value : undefined
    case 'decimal':
      return isWithin(kind, value) ? value : undefined
    case 'share':
      return value > 0 && value <= 1 ? value : undefined
    default:
      return undefined
  }
}

/** Ends the sentence "got …, takes …". */
export function describeKind(kind: ValueKind): string {
  switch (kind.type) {
    case 'whole':
      return `a whole number${unitPhrase(kind.unit)} from ${kind.min} to ${kind.max}`
    case 'decimal':
      return `a number from ${kind.min} to ${kind.max}`
    case 'share':
      return 'a share above 0 and up to 100 %, written 50, 50% or 0.5'
    case 'choice':
      return new Intl.ListFormat('en', { type: 'disjunction' }).format(kind.words)
    case 'url':
      return `a URL that starts with ${kind.protocols.map((protocol) => `${protocol}//`).join(' or ')}`
    case 'schema':
      return 'a schema name of 1 to 63 bytes that does not start with pg_'
    case 'text':
      return 'a text that is not empty'
  }
}

function unitPhrase(unit: Unit): string {
  return unit === 'port' ? '' : ` of ${unit}`
}

function isWithin({ min, max }: { min: number; max: number }, value: number): boolean {
  return value >= min && value <= max
}

/** A bare 1 could be 1 % or all, so it is refused; every other number has one reading. */
function readShare(text: string): number | undefined {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = Number(digits)
  if (percent === '' && value === 1) return undefined
  const share = percent === '' && value < 1 ? value : value / 100
  return share > 0 && share <= 1 ? share : undefined
}

/** The rules of PostgreSQL for a name (C19): no NUL, at most 63 bytes, and `pg_` belongs to the server. */
function isSchemaName(text: string): boolean {
  return isText(text) && new TextEncoder().encode(text).length <= 63 && !text.startsWith('pg_')
}

/** A lone surrogate has no encoding, so neither the database nor a URL could carry it. */
function isText(text: string): boolean {
  return text !== '' && !text.includes('\0') && !/\p{Surrogate}/u.test(text)
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  if (!isText(text) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return false
  const url = parseUrl(text)
  return url !== undefined && protocols.includes(url.protocol) && isDecodable(url)
}

/** `postgres://user@/db`, the default host, is fine for PostgreSQL and its clients, but not for the URL standard. */
export function parseUrl(text: string): URL | undefined {
  for (const candidate of [text, text.replace('@/', '@localhost/')]) {
    if (URL.canParse(candidate)) return new URL(candidate)
  }
  return undefined
}

/** Clients decode these parts and throw on an escape that is no UTF-8; a bare `%` they take for itself. */
function isDecodable(url: URL): boolean {
  try {
    for (const part of [url.username, url.password, url.hostname, url.pathname]) {
      decodeURIComponent(part.replace(/%(?![0-9a-f]{2})/gi, '%25'))
    }
    return true
  } catch {
    return false
  }
}
