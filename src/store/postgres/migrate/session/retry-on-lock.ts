import { isUnstuckError } from '../../../../errors/index.ts'

export interface LockPatience {
  /** Maximum wait for a lock, so that traffic of the team does not queue behind it. */
  lockTimeoutMs?: number
  onStep?: (step: string) => void
}

export const defaultLockTimeoutMs = 2_000
/** A concurrent build waits for every older transaction and blocks nobody. With 2 s it never finished beside 3 s reports. */
const buildPatience = 30
const lockTries = 10

/** Retries after a lock timeout, so that nobody queues behind our lock request. */
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
