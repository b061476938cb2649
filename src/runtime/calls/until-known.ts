import { isUnstuckError } from '../../errors/index.ts'

/**
 * An error of the connection leaves the outcome unknown, not lost (C2): the same call is made again, and the lease id on the
 * row tells whether the first one had got through (C3). Ends when it is known, or when the lease is lost for certain.
 */
export function untilKnown<T>(call: () => Promise<T>, isLost: () => boolean): Promise<T> {
  return call().catch((error: unknown) => knownLater(error, call, isLost))
}

/** After a first call that failed with `error`. */
export async function knownLater<T>(
  error: unknown,
  call: () => Promise<T>,
  isLost: () => boolean,
): Promise<T> {
  let last = error
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    if (!isUnstuckError(last) || !last.isRetryable || isLost()) throw last
    const pauseMs = waitMs * (0.5 + Math.random() / 2)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    try {
      return await call()
    } catch (thrown) {
      last = thrown
    }
  }
}
