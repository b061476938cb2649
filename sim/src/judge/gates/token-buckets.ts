// Token buckets as their documentation describes them, apart from the code that is judged: each has a size, fills at a rate, and
// never gives more than it has.

export interface BucketSize {
  ratePerS: number
  burst: number
}

interface Level {
  at: number
  left: number
}

/** Rounding of thousands of sums. */
const TOLERANCE = 1e-3

export class TokenBuckets {
  /** By key: what was left each time that tokens were taken. */
  readonly #levels = new Map<string, Level[]>()

  /** Returns whether it had them. In order of time. */
  take(key: string, size: BucketSize, tokens: number, at: number): boolean {
    const left = this.#leftOf(key, size, at) - tokens
    const levels = this.#levels.get(key) ?? []
    this.#levels.set(key, levels)
    levels.push({ at, left: Math.max(0, left) })
    return left >= -TOLERANCE
  }

  #leftOf(key: string, { ratePerS, burst }: BucketSize, at: number): number {
    const last = this.#levels.get(key)?.findLast((level) => level.at <= at)
    return last === undefined ? burst : Math.min(burst, last.left + ((at - last.at) * ratePerS) / 1_000)
  }

  /** Whether it had a token to spare at every moment. */
  hadToken(key: string, size: BucketSize, from: number, to: number): boolean {
    const levels = this.#levels.get(key) ?? []
    return (
      this.#leftOf(key, size, from) >= 1 && !levels.some(({ at, left }) => at > from && at <= to && left < 1)
    )
  }

  /** Forgets the tokens that were taken. */
  fill(): void {
    this.#levels.clear()
  }
}
