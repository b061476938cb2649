// Quotes names and literals. Every name that reaches SQL text passes through here (C19).
import { invalidArgument } from '../../../errors/index.ts'

const maxBytes = 63

export function quoteIdentifier(name: string): string {
  assertIdentifier('identifier', name)
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteLiteral(value: string): string {
  if (value.includes('\0')) throw invalidArgument('literal', value, 'text without a NUL character')
  // A backslash is special only with standard_conforming_strings off; the escape form means the same everywhere.
  const quoted = `'${value.replaceAll("'", "''")}'`
  return value.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** A name that PostgreSQL accepts: not empty, at most 63 bytes (it truncates longer ones silently), no NUL. */
export function assertIdentifier(what: string, name: string): void {
  if (name.length === 0 || name.includes('\0') || Buffer.byteLength(name) > maxBytes) {
    throw invalidArgument(what, name, `1 to ${maxBytes} bytes without a NUL character`)
  }
}

/** A name that unstuck chooses: plain, so that it can be typed in psql without quotes. */
export function assertPlainName(what: string, name: string, longest: number = maxBytes): void {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || name.length > longest || name.startsWith('pg_')) {
    const takes = `lower-case letters, digits and _, at most ${longest} of them, not starting with a digit or pg_`
    throw invalidArgument(what, name, takes)
  }
}
