// Names and literals as PostgreSQL wants them. Everything that reaches SQL text as a name passes through here (C19).
import { invalidArgument } from '../../../errors/index.ts'

const maxBytes = 63

export function quoteIdentifier(name: string): string {
  assertIdentifier('identifier', name)
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteLiteral(value: string): string {
  if (value.includes('\0')) throw invalidArgument('literal', value, 'text without a NUL character')
  // A backslash is special only where standard_conforming_strings is off; the escape form means the same everywhere.
  const quoted = `'${value.replaceAll("'", "''")}'`
  return value.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** A name that PostgreSQL would take as it is: not empty, at most 63 bytes (it cuts longer ones silently), no NUL. */
export function assertIdentifier(what: string, name: string): void {
  if (name.length === 0 || name.includes('\0') || Buffer.byteLength(name) > maxBytes) {
    throw invalidArgument(what, name, `1 to ${maxBytes} bytes without a NUL character`)
  }
}

/** A name that we give: plain, so that it can be typed in psql without quotes. */
export function assertPlainName(what: string, name: string, longest: number = maxBytes): void {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || name.length > longest || name.startsWith('pg_')) {
    const takes = `lower-case letters, digits and _, at most ${longest} of them, not starting with a digit or pg_`
    throw invalidArgument(what, name, takes)
  }
}
