// The failure of a job as its owner may see it: one of the public codes, and a reason without addresses (FAIL-2). The row
// keeps the details, for operators.
import { toPublicCode } from '../errors/index.ts'

const ADDRESS = '<address>'
const URL_LIKE = /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"`<>()]+/gi
const IPV4 = /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g
/** With `::`, or at least five groups: a time of day has three. */
const IPV6 = /(?<![\w:.])\[?(?=[0-9a-f:.]*::|(?:[0-9a-f]{1,4}:){5})[0-9a-f:.]+\]?(?::\d{1,5})?(?!\w)/gi
/** `localhost:80`, `gw.internal:443`, `gateway:8080`, and not `line:12`. */
const HOST_AND_PORT = /\b(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|[a-z][a-z0-9-]*(?=:\d{4,5}\b)):\d{2,5}\b/gi
/** As in Node's `getaddrinfo ENOTFOUND gw.internal`. */
const LOOKED_UP = /\b(ENOTFOUND|EAI_[A-Z]+) [\w.-]+/g
const CODE_LIKE = /\b[A-Z][A-Z0-9_]{2,}\b/g

export function codeForOwner(code: string | null): string | null {
  return code === null ? null : toPublicCode(code)
}

export function reasonForOwner(reason: string | null): string | null {
  if (reason === null) return null
  return reason
    .replaceAll(LOOKED_UP, `$1 ${ADDRESS}`)
    .replaceAll(URL_LIKE, ADDRESS)
    .replaceAll(IPV4, ADDRESS)
    .replaceAll(IPV6, ADDRESS)
    .replaceAll(HOST_AND_PORT, ADDRESS)
    .replaceAll(CODE_LIKE, (word) => (toPublicCode(word) === 'UNKNOWN' ? word : toPublicCode(word)))
}
