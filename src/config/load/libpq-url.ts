import type { ConfigProblem } from '../config-problem.ts'
import { problem } from '../config-problem.ts'
import { connectionVariables } from '../variables/connection-variables.ts'
import { describeKind, readText } from '../variables/value-kind.ts'

/** A password or an SSL mode alone does not make a connection. */
const MAKES_A_CONNECTION = ['PGHOST', 'PGPORT', 'PGUSER', 'PGDATABASE']

/** The connection described by libpq's variables, as a URL. */
export function libpqUrl(
  env: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
): string | undefined {
  if (!MAKES_A_CONNECTION.some((name) => env[name])) return undefined
  const parts: Record<string, string> = {}
  for (const { name, kind, isPart, isSecret } of connectionVariables) {
    const text = env[name]
    if (isPart === undefined || !text) continue
    if (readText(kind, text) !== undefined) parts[name] = text
    else if (isSecret) problems.push({ name, got: 'a string (withheld)', takes: describeKind(kind) })
    else problems.push(problem(name, text, describeKind(kind)))
  }
  return joinUrl(parts)
}

function joinUrl(parts: Record<string, string>): string {
  const host = parts['PGHOST'] ?? 'localhost'
  const isName = /^[\w.-]+$/.test(host)
  const password = parts['PGPASSWORD'] === undefined ? '' : `:${encodeURIComponent(parts['PGPASSWORD'])}`
  const login = `${encodeURIComponent(parts['PGUSER'] ?? '')}${password}`
  const query = new URLSearchParams()
  // A socket directory or an IPv6 address only fits into the query, where it takes precedence over the host.
  if (!isName) query.set('host', host)
  if (parts['PGSSLMODE'] !== undefined) query.set('sslmode', parts['PGSSLMODE'])
  const search = query.size === 0 ? '' : `?${query.toString()}`
  const at = login === '' ? '' : `${login}@`
  const port = parts['PGPORT'] ?? '5432'
  return `postgresql://${at}${isName ? host : 'localhost'}:${port}/${databasePath(parts['PGDATABASE'] ?? '')}${search}`
}

/** Clients do not unescape path delimiters, so only those that would end the path are escaped. */
function databasePath(database: string): string {
  return encodeURI(database).replace(/[?#]/g, encodeURIComponent)
}
