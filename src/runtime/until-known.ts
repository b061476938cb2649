import { isUnstuckError } from '../errors/index.ts'

/**
 * An error of the connection leaves the outcome unknown, not lost (C2): the same call is made again, and the lease id on the
 * row tells whether the first one had got through (C3). Ends when it is known, or when the lease is lost for certain.
 */
export async function untilKnown<T>(call: () => Promise<T>, isLost: () => boolean): Promise<T> {
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      return await call()
    } catch (error) {
      if (!isUnstuckError(error) || !error.isRetryable || isLost()) throw error
      const pauseMs = waitMs * (0.5 + Math.random() / 2)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
