import { isUnstuckError } from '../../../../errors/index.ts'

export interface LockPatience {
  /** How long a statement may wait for a lock before it gives way to the team's traffic. */
  lockTimeoutMs?: number
  onStep?: (step: string) => void
}

export const defaultLockTimeoutMs = 2_000
/**
 * A concurrent build waits for every older transaction of the database, and nobody waits behind it. With 2 s it never got
 * through beside reports of 3 s.
 */
const buildPatience = 30
const lockTries = 10

/** Gives way and comes back: nobody queues behind a lock that we wait for. */
export async function retryOnLock<T>({ onStep }: LockPatience, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isUnstuckError(error, 'LOCK_TIMEOUT') || attempt >= lockTries) throw error
      onStep?.(`a lock was not to be had; waiting to try again (${attempt} of ${lockTries})`)
      await new Promise((resolve) => setTimeout(resolve, 250 * attempt))
    }
  }
}

export function whileBuilding<Patience extends { lockTimeoutMs: number }>(patience: Patience): Patience {
  return { ...patience, lockTimeoutMs: patience.lockTimeoutMs * buildPatience }
}

/** `a lock was not granted within 2000 ms, 10 times` */
export function lockNotGranted({ lockTimeoutMs = defaultLockTimeoutMs }: LockPatience): string {
  return `a lock was not granted within ${lockTimeoutMs} ms, ${lockTries} times`
}
