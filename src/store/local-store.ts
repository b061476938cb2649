import type { JobStore } from './job-store.ts'

/** A store inside the process: no connection to open, no URL for the heartbeat thread. */
export interface LocalStore extends JobStore {
  /** Runs the work of a handler's `tx`; the store completes the job afterwards. */
  transaction: RunTransaction
  /** The store's clock, in milliseconds since 1970. */
  now(): number
}

/** For example `(work) => db.transaction(work)`. The client is the caller's: the store does not use it. */
// oxlint-disable-next-line typescript/no-explicit-any -- the client is of any driver, and passed through
export type RunTransaction = <T>(work: (client: any) => Promise<T>) => Promise<T>
