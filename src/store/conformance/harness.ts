// The interface between a store and the suite. Time moves only by `elapse`; nothing here sleeps.
import type { Job } from '../../job/job.ts'
import type { StoreCapability } from '../capability.ts'
import type { JobStore } from '../job-store.ts'

/** A fresh, empty store with its own policy, opened for one test. */
export interface StoreHarness<Tx = never> extends TestBench {
  store: JobStore<Tx>
  hasTransactions: boolean
  /** Rolls back and rethrows if `work` throws. */
  inTransaction?: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** The part that most tests need. */
export interface TestBench {
  store: JobStore
  /** Moves the store's time forward, or back if negative. */
  elapse: (ms: number) => Promise<void>
  /** Inserts a row in any state, as an older worker or a manual edit would leave it. Returns its id. */
  plantJob: (fields: Partial<Job>) => Promise<string>
}

/** Differences between tables that the port allows. */
export interface ConformanceOptions {
  /** The table refuses rows without an update time, so a row without any time cannot exist. */
  alwaysHasUpdateTime?: boolean
  /** The table judges a row without a lease by other times than that of its last update. */
  ignoresUpdateTime?: boolean
  /** A team's own table: waiting jobs are not compared with a budget, and never ended (C29). */
  isTeams?: boolean
  /** Queues are in different shards: what a shard knows of its own jobs alone is skipped by name (docs/adr/0038). */
  isSharded?: boolean
  /** Ids are arbitrary text: prefixes match only as written. */
  hasTextIds?: boolean
  /**
   * Skips tests of functions that exist once per schema and see no job table, such as validation and token
   * buckets. For PostgreSQL tables beside others that run the whole suite.
   */
  leavesOutShared?: boolean
  /** Capabilities that the store lacks: their suites are skipped by name. */
  lacks?: readonly StoreCapability[]
}

/** For tests of transactions: skips the test if the store has none. */
export function transactionsOf<Tx>(
  harness: StoreHarness<Tx>,
  skip: (note?: string) => never,
): <T>(work: (tx: Tx) => Promise<T>) => Promise<T> {
  if (!harness.hasTransactions) return skip('this store has no transactions')
  if (harness.inTransaction === undefined)
    throw new Error('a harness that has transactions gives inTransaction')
  return harness.inTransaction
}
