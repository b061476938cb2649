import { createHash } from 'node:crypto'

/** The same as sql/functions/jobs/read/cause_id.sql; both are checked against test/vectors/cause-id.json. */
export function causeId(code: string | null, reason: string | null): string {
  const text = Array.from(reason ?? '')
    .slice(0, 500)
    .join('')
    .replaceAll(/[A-Za-z][A-Za-z0-9+.-]*:\/\/[^ \t\r\n"'<>]+/g, '<url>')
    .replaceAll(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/g, '<id>')
    .replaceAll(/(?<![A-Za-z0-9_])("[^"]*"|'[^']*'|`[^`]*`)(?![A-Za-z0-9_])/g, '<text>')
    .replaceAll(/(?<![A-Za-z0-9])[0-9A-Fa-f]{8,}(?![A-Za-z0-9])/g, '<id>')
    .replaceAll(/[0-9]+/g, '<n>')
    .replaceAll(/[ \t\r\n]+/g, ' ')
  return createHash('sha256')
    .update(`${code ?? ''}\n${text}`)
    .digest('hex')
    .slice(0, 8)
}
