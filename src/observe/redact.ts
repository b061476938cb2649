// Removes secrets from payloads, results and reasons before they are shown. Pure; returns a copy. It guards against ordinary
// slips, not against secrets hidden on purpose.
import type { JsonValue } from '../job/job.ts'

const REDACTED = '[redacted]'

/** At any depth, whatever the value. */
const KEYS = /pass|secret|token|authorization|api[-_]?key|cookie|ssn|iban|card/i

const JWT = /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s/@]+@/gi
/** 13 to 19 digits, in groups or not; only those whose check digit is right. */
const CARD_NUMBER = /\b\d(?:[ -]?\d){12,18}\b/g
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/g
const EMAIL = /\b[\w.%+-]+@[\w-]+(?:\.[\w-]+)+\b/g
/** Masked as in classify-error.ts, which errors written by other languages do not pass. */
const NAMED_VALUE = /\b([\w-]{0,40}(?:token|secret|passw(?:or)?d|signature|api[_-]?key))=[^\s&#;,]+/gi
const UNSTUCK_TOKEN = /\bunstuck_[\w-]{20,}/g

export interface RedactOptions {
  /** Also masks e-mail addresses. Default: false. */
  withEmails?: boolean
}

export function redactText(text: string, { withEmails = false }: RedactOptions = {}): string {
  const redacted = text
    .replaceAll(URL_PASSWORD, `$1${REDACTED}@`)
    .replaceAll(BEARER, `$1 ${REDACTED}`)
    .replaceAll(JWT, REDACTED)
    .replaceAll(NAMED_VALUE, `$1=${REDACTED}`)
    .replaceAll(UNSTUCK_TOKEN, REDACTED)
    .replaceAll(CARD_NUMBER, (digits) => (isCardNumber(digits) ? REDACTED : digits))
    .replaceAll(IBAN, REDACTED)
  return withEmails ? redacted.replaceAll(EMAIL, REDACTED) : redacted
}

export function redactJson(value: JsonValue, options: RedactOptions = {}): JsonValue {
  if (typeof value === 'string') return redactText(value, options)
  if (Array.isArray(value)) return value.map((item) => redactJson(item, options))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      KEYS.test(key) ? REDACTED : redactJson(inner, options),
    ]),
  )
}

/** Luhn check. */
function isCardNumber(text: string): boolean {
  const digits = Array.from(text.replaceAll(/\D/g, ''), Number)
  const sum = digits.toReversed().reduce((total, digit, index) => {
    const doubled = digit * 2
    return total + (index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
