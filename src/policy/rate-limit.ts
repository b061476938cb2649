// Tokens by the generic cell rate algorithm: a bucket is the moment when it will be full again, and nothing else. The
// database decides the same in sql/functions/queues/limits/take_tokens.sql; in a process this serves limits of that process alone.

export interface RateLimit {
  /** What is limited: `gateway`, `gateway:owner-7`. */
  key: string
  /** Tokens that come back in a second. */
  ratePerS: number
  /** Tokens in a full bucket: what may be taken at once. */
  burst: number
}

export interface TokenGrant {
  /** From every limit alike, from none to all that were asked for. */
  granted: number
  /** Until there is one token more; 0 where all were granted. */
  retryInMs: number
}

// For a token whose time is exactly now. The bucket owes it, so it does not add up.
const TOLERANCE = 1e-6

/** How many tokens all limits together would grant now, and the wait until there is one where there is none. */
export function freeTokens(
  fullAtMs: ReadonlyMap<string, number>,
  limits: readonly RateLimit[],
  nowMs: number,
): { free: number; retryInMs: number } {
  const buckets = limits.map((limit) => readBucket(fullAtMs, limit, nowMs))
  const free = leastFree(buckets)
  return { free, retryInMs: free > 0 ? 0 : waitMs(buckets, 0) }
}

/** `fullAtMs` holds the buckets by key and is changed; a key that is not in it is a full bucket. */
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

/** Tokens that were taken and are not used after all. */
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
  /** Until it is full. */
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

/** Until there is one token more than were granted. */
function waitMs(buckets: readonly Bucket[], granted: number): number {
  const waitsMs = buckets.map(({ owedMs, tokenMs, depthMs }) =>
    Math.ceil(Math.max(0, owedMs + (granted + 1) * tokenMs - depthMs)),
  )
  return Math.max(...waitsMs)
}
