import { isUnstuckError } from '../../errors/index.ts'
import { timing } from '../timing/timing.ts'
import { pause } from '../timing/wait.ts'

/**
 * Repeats a call whose connection failed. Its outcome is unknown, not lost (C2): the lease id on the row shows whether an
 * earlier call was committed (C3). Gives up on errors that no retry fixes, and once `isLost`.
 */
export function retryUntilAnswered<T>(call: () => Promise<T>, isLost: () => boolean): Promise<T> {
  return call().catch((error: unknown) => retryAfterError(error, call, isLost))
}

/** The same, after a first call that failed with `error`. */
export async function retryAfterError<T>(
  error: unknown,
  call: () => Promise<T>,
  isLost: () => boolean,
): Promise<T> {
  let last = error
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    if (!isUnstuckError(last) || !last.isRetryable || isLost()) throw last
    const pauseMs = waitMs * (0.5 + timing.random() / 2)
    await pause(pauseMs)
    try {
      return await call()
    } catch (thrown) {
      last = thrown
    }
  }
}
