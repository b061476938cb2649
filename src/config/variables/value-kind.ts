// Kinds of values: one parser and one description each, so that checks, errors and the reference agree. Not zod: loading it
// takes 14 MB and as long as the rest of the package, and an application loads the configuration (ADR 0017).

export type ValueKind =
  | { type: 'whole'; unit: Unit; min: number; max: number }
  | { type: 'decimal'; min: number; max: number }
  | { type: 'share' }
  | { type: 'choice'; words: readonly string[] }
  | { type: 'url'; protocols: readonly string[] }
  | { type: 'schema' }
  | { type: 'text' }

export type Unit = keyof typeof unitFactors

/** Factor to the internal unit: durations are milliseconds. */
const unitFactors = {
  seconds: 1000,
  milliseconds: 1,
  days: 1,
  attempts: 1,
  jobs: 1,
  calls: 1,
  connections: 1,
  bytes: 1,
  port: 1,
}

/** Longest timer of Node.js; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1
const MAX_TIMER_SEC = Math.floor(MAX_TIMER_MS / 1000)

export function seconds(max = MAX_TIMER_SEC, min = 1): ValueKind {
  return { type: 'whole', unit: 'seconds', min, max }
}

export function milliseconds(min: number, max = MAX_TIMER_MS): ValueKind {
  return { type: 'whole', unit: 'milliseconds', min, max }
}

/** The value in the internal unit, or undefined if it is invalid. */
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

/** The same for a number of a config file, which is already in the internal unit. */
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

/** Completes "got …, takes …". */
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
      return 'a non-empty text'
  }
}

function unitPhrase(unit: Unit): string {
  return unit === 'port' ? '' : ` of ${unit}`
}

function isWithin({ min, max }: { min: number; max: number }, value: number): boolean {
  return value >= min && value <= max
}

/** A bare 1 could mean 1 % or 100 %, so it is refused; every other number is unambiguous. */
function readShare(text: string): number | undefined {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = Number(digits)
  if (percent === '' && value === 1) return undefined
  const share = percent === '' && value < 1 ? value : value / 100
  return share > 0 && share <= 1 ? share : undefined
}

/** PostgreSQL's rules for names (C19): no NUL, at most 63 bytes, and `pg_` is reserved. */
function isSchemaName(text: string): boolean {
  return isText(text) && new TextEncoder().encode(text).length <= 63 && !text.startsWith('pg_')
}

/** A lone surrogate cannot be encoded, neither for the database nor in a URL. */
function isText(text: string): boolean {
  return text !== '' && !text.includes('\0') && !/\p{Surrogate}/u.test(text)
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  if (!isText(text) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return false
  const url = parseUrl(text)
  return url !== undefined && protocols.includes(url.protocol) && isDecodable(url)
}

/** `postgres://user@/db`, with the default host, is valid for PostgreSQL clients, but not for the URL standard. */
export function parseUrl(text: string): URL | undefined {
  for (const candidate of [text, text.replace('@/', '@localhost/')]) {
    if (URL.canParse(candidate)) return new URL(candidate)
  }
  return undefined
}

/** Clients decode these parts and throw on an escape that is not UTF-8; they accept a bare `%`. */
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
