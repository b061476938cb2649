// Rate limits by the generic cell rate algorithm: a bucket is the time at which it will be full again. The database decides the
// same in sql/functions/queues/limits/take_tokens.sql; this serves limits that are local to a process.

export interface RateLimit {
  /** Name of the bucket: `gateway`, `gateway:owner-7`. */
  key: string
  /** Tokens added per second. */
  ratePerS: number
  /** Size of the bucket. */
  burst: number
  /** Number of the shard that keeps the bucket, for a limit that is divided among them. Default: one for all shards. */
  shard?: number | undefined
}

export interface TokenGrant {
  /** Tokens taken from every limit, at most the number asked for. */
  granted: number
  /** Time until one more token is available; 0 if all were granted. */
  retryInMs: number
}

// Rounding margin for a token that is due exactly now. The bucket still owes it, so the error does not accumulate.
const TOLERANCE = 1e-6

/** Tokens that all limits together would grant now, and the wait for the first if there is none. */
export function freeTokens(
  fullAtMs: ReadonlyMap<string, number>,
  limits: readonly RateLimit[],
  nowMs: number,
): { free: number; retryInMs: number } {
  const buckets = limits.map((limit) => readBucket(fullAtMs, limit, nowMs))
  const free = leastFree(buckets)
  return { free, retryInMs: free > 0 ? 0 : waitMs(buckets, 0) }
}

/** Updates `fullAtMs`, the buckets by key; a missing key is a full bucket. */
export function takeTokens(
  fullAtMs: Map<string, number>,
  limits: readonly RateLimit[],
  tokens: number,
  nowMs: number,
): TokenGrant {
  const buckets = limits.map((limit) => readBucket(fullAtMs, limit, nowMs))
  const granted = Math.min(tokens, leastFree(buckets))
  if (granted > 0) {
    for (const { key, owedMs, tokenMs } of buckets) fullAtMs.set(key, nowMs + owedMs + granted * tokenMs)
  }
  return { granted, retryInMs: granted === tokens ? 0 : waitMs(buckets, granted) }
}

/** Returns tokens that were taken and not used. */
export function returnTokens(
  fullAtMs: Map<string, number>,
  limits: readonly RateLimit[],
  tokens: number,
): void {
  for (const { key, ratePerS } of limits) {
    const atMs = fullAtMs.get(key)
    if (atMs !== undefined) fullAtMs.set(key, atMs - (tokens * 1_000) / ratePerS)
  }
}

interface Bucket {
  key: string
  tokenMs: number
  /** Time until it is full. */
  owedMs: number
  depthMs: number
}

function readBucket(
  fullAtMs: ReadonlyMap<string, number>,
  { key, ratePerS, burst }: RateLimit,
  nowMs: number,
): Bucket {
  const tokenMs = 1_000 / ratePerS
  const owedMs = Math.max(0, (fullAtMs.get(key) ?? nowMs) - nowMs)
  return { key, tokenMs, owedMs, depthMs: tokenMs * burst }
}

function leastFree(buckets: readonly Bucket[]): number {
  const free = buckets.map(({ depthMs, owedMs, tokenMs }) =>
    Math.floor((depthMs - owedMs) / tokenMs + TOLERANCE),
  )
  return Math.max(0, Math.min(...free))
}

/** Time until there is one token more than were granted. */
function waitMs(buckets: readonly Bucket[], granted: number): number {
  const waitsMs = buckets.map(({ owedMs, tokenMs, depthMs }) =>
    Math.ceil(Math.max(0, owedMs + (granted + 1) * tokenMs - depthMs)),
  )
  return Math.max(...waitsMs)
}
