// What a store gives the suite, and what every test of it stands on. Time moves by `elapse` only: nothing here sleeps.
import type { Job } from '../../job/job.ts'
import type { StoreCapability } from '../capability.ts'
import type { JobStore } from '../job-store.ts'

/** A fresh, empty store with a policy of its own, opened for one test. */
export interface StoreHarness<Tx = never> extends TestBench {
  store: JobStore<Tx>
  hasTransactions: boolean
  /** Rolls back when `work` throws, and throws on. */
  inTransaction?: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** What most tests need of it. */
export interface TestBench {
  store: JobStore
  /** As if this much time had gone by for the store. */
  elapse: (ms: number) => Promise<void>
  /** Inserts a row in any state, as an old worker or a hand would have left it, and answers its id. */
  plantJob: (fields: Partial<Job>) => Promise<string>
}

/** How the table under test differs where the port lets it. */
export interface ConformanceOptions {
  /** The table refuses rows without an update time, so a row without any time cannot exist. */
  alwaysHasUpdateTime?: boolean
  /** The table judges a row without a lease by other times than that of its last update. */
  ignoresUpdateTime?: boolean
  /** A team's own: its waiting jobs are not compared with a budget, and never ended (C29). */
  isTeams?: boolean
  /** Ids are any text: the beginning of one is found as it is written, and in no other way. */
  hasTextIds?: boolean
  /**
   * One of several tables of PostgreSQL, and others run the whole suite: leaves out what functions decide that are there once
   * for a schema and see no job table such as what makes a job or a policy invalid, and token buckets.
   */
  leavesOutShared?: boolean
  /** What the store has not: the suites of these parts are skipped by name. */
  lacks?: readonly StoreCapability[]
}

/** For the tests of transactions: leaves the test where the store has none. */
export function transactionsOf<Tx>(
  harness: StoreHarness<Tx>,
  skip: (note?: string) => never,
): <T>(work: (tx: Tx) => Promise<T>) => Promise<T> {
  if (!harness.hasTransactions) return skip('this store has no transactions')
  if (harness.inTransaction === undefined)
    throw new Error('a harness that has transactions gives inTransaction')
  return harness.inTransaction
}
