// Tokens by the generic cell rate algorithm: a bucket is the moment when it will be full again, and nothing else. The
// database decides the same in sql/core/take_tokens.sql; in a process this serves limits of that process alone.

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

/** `fullAtMs` holds the buckets by key and is changed; a key that is not in it is a full bucket. */
export function takeTokens(
  fullAtMs: Map<string, number>,
  limits: readonly RateLimit[],
  tokens: number,
  nowMs: number,
): TokenGrant {
  const found = limits.map(({ key, ratePerS, burst }) => {
    const tokenMs = 1_000 / ratePerS
    const owedMs = Math.max(0, (fullAtMs.get(key) ?? nowMs) - nowMs)
    return { key, tokenMs, owedMs, depthMs: tokenMs * burst }
  })
  const free = found.map(({ depthMs, owedMs, tokenMs }) =>
    Math.floor((depthMs - owedMs) / tokenMs + TOLERANCE),
  )
  const granted = Math.min(tokens, Math.max(0, Math.min(...free)))
  if (granted > 0) {
    for (const { key, owedMs, tokenMs } of found) fullAtMs.set(key, nowMs + owedMs + granted * tokenMs)
  }
  const waitsMs = found.map(({ owedMs, tokenMs, depthMs }) =>
    Math.ceil(Math.max(0, owedMs + (granted + 1) * tokenMs - depthMs)),
  )
  return { granted, retryInMs: granted === tokens ? 0 : Math.max(...waitsMs) }
}
