import { showKind } from '../../errors/index.ts'
import { parseUrl } from '../variables/value-kind.ts'

const MASK = '***'
/** Other query parameters may be secrets: `password`, `sslpassword`, tokens. */
const SHOWN_PARAMETERS = ['application_name', 'connect_timeout', 'dbname', 'host', 'port', 'sslmode', 'user']

/** A URL without its password, for display. */
export function maskUrl(text: string): string {
  const url = parseUrl(text)
  // An unescaped `/`, `?` or `#` in a password makes the rest look like a path that contains the real `@`.
  if (url === undefined || `${url.pathname}${url.search}${url.hash}`.includes('@')) return MASK
  const password = url.password === '' ? '' : `:${MASK}`
  const login = url.username === '' && password === '' ? '' : `${url.username}${password}@`
  const query = [...url.searchParams].map(([key, value]) =>
    SHOWN_PARAMETERS.includes(key) ? `${key}=${encodeURIComponent(value)}` : `${key}=${MASK}`,
  )
  const search = query.length === 0 ? '' : `?${query.join('&')}`
  return `${url.protocol}//${login}${url.host}${url.pathname}${search}`
}

/** An invalid URL in an error: its password cannot be located, so only the scheme is shown. */
export function showRefusedUrl(text: string): string {
  if (text === '') return '""'
  const scheme = /^[a-z][a-z0-9+.-]{0,19}:\/\//i.exec(text)
  return scheme === null ? showKind(text) : `"${scheme[0]}…"`
}
