/** Keeps an open transaction from holding job rows, and a half-open connection from holding a transaction (C13). */
export interface TransactionLimits {
  /** For connecting and `begin`; a longer wait is POOL_EXHAUSTED. Default: the limit of the pool. */
  beginWithinMs?: number
  /** From begin to commit. The server enforces it for each statement and each pause too, if this process no longer can. */
  timeoutMs: number
  /** For each lock wait. */
  lockTimeoutMs: number
  isReadOnly?: boolean
  /** Extra time this process waits beyond the server's limit, so that the server reports what happened. */
  graceMs?: number
}
