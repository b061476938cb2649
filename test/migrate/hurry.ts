import { vi } from 'vitest'

/** Shortens the waits between two tries, but not the timeout of a connection. */
export function hurry(): void {
  const wait = globalThis.setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, ms = 0) =>
    wait(run, ms % 250 === 0 && ms <= 2_500 ? 1 : ms),
  )
}
