import { vi } from 'vitest'

/** What waits between two tries becomes short; the timeout of a connection stays what it is. */
export function hurry(): void {
  const wait = globalThis.setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, ms = 0) =>
    wait(run, ms % 250 === 0 && ms <= 2_500 ? 1 : ms),
  )
}
