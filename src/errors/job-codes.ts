// The ten codes that users see of a failed job. Internally any code may be used; it is mapped to one of them (FAIL-2).

export const publicCodes = [
  'NOT_PDF',
  'TOO_LARGE',
  'GW_4XX',
  'GW_5XX',
  'GW_TIMEOUT',
  'IO_ERROR',
  'NOT_READY',
  'EXPIRED',
  'FORBIDDEN',
  'UNKNOWN',
] as const

export type PublicCode = (typeof publicCodes)[number]

export interface PublicCodeOptions {
  /** This machine is short of memory, disk or handles: MEMORY_ERROR is then an IO_ERROR. */
  isLocalPressure?: boolean
}

export interface RetryableOptions {
  /** Caused by the user's input or action: a retry cannot succeed. */
  isCausedByUser?: boolean
}

/** The codes of one deployment; a profile may bring its own. */
export interface CodeSet<Code extends string = string> {
  readonly publicCodes: readonly Code[]
  /** Takes any code, public ones included. */
  toPublicCode(code: string, options?: PublicCodeOptions): Code
  /** Takes any code, public ones included. */
  isRetryable(code: string, options?: RetryableOptions): boolean
}

const NETWORK_CODES = [
  'GW_UNAVAILABLE',
  'NETWORK_ERROR',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'EPIPE',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOTCONN',
  'EADDRNOTAVAIL',
  'EPROTO',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UND_ERR_SOCKET',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'HPE_INVALID_CONSTANT',
]

const TIMEOUT_CODES = [
  'TIMEOUT',
  'TIMEOUT_ERROR',
  // Written by a reap into the row of a job without budget (REAP-2).
  'timeout',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]

const INPUT_CODES = ['PARSE_ERROR', 'VALIDATION_ERROR', 'INVALID_MAPPING', 'INVALID_PAYLOAD']

const LOCAL_CODES = [
  'EACCES',
  'EAGAIN',
  'EBADF',
  'EBUSY',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EIO',
  'EISDIR',
  'ELOOP',
  'EMFILE',
  'EMLINK',
  'ENAMETOOLONG',
  'ENFILE',
  'ENODEV',
  'ENOENT',
  'ENOMEM',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENXIO',
  'EPERM',
  'EROFS',
  'ESTALE',
  'ETXTBSY',
  'EXDEV',
]

// A Map, since a code may be any word, such as `constructor`.
const toPublic = new Map<string, PublicCode>([
  ...publicCodes.map((code) => [code, code] as const),
  ...NETWORK_CODES.map((code) => [code, 'GW_5XX'] as const),
  ...TIMEOUT_CODES.map((code) => [code, 'GW_TIMEOUT'] as const),
  ...INPUT_CODES.map((code) => [code, 'GW_4XX'] as const),
  ...LOCAL_CODES.map((code) => [code, 'IO_ERROR'] as const),
])

const RETRYABLE: ReadonlySet<PublicCode> = new Set(['GW_5XX', 'GW_TIMEOUT', 'IO_ERROR', 'UNKNOWN'])

/** An unmapped code is UNKNOWN: never shown itself, and retryable. */
export function toPublicCode(code: string, options: PublicCodeOptions = {}): PublicCode {
  if (code === 'MEMORY_ERROR') return options.isLocalPressure === true ? 'IO_ERROR' : 'UNKNOWN'
  return toPublic.get(code) ?? 'UNKNOWN'
}

export function isRetryableCode(code: string, options: RetryableOptions = {}): boolean {
  return options.isCausedByUser !== true && RETRYABLE.has(toPublicCode(code))
}

export const defaultCodes: CodeSet<PublicCode> = { publicCodes, toPublicCode, isRetryable: isRetryableCode }
