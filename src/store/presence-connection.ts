// A session of the server for presence (LEASE-10, C24). The server ends it within milliseconds of the death of its process.

export interface PresenceLook {
  newlyGone: number
  /** Sessions that look, in turns. */
  watchers: number
}

/** `refused`: the server will not do this here. `late`: it did not answer in time. */
export type PresenceFailure = 'key-taken' | 'refused' | 'late' | 'other'

export interface PresenceConnection {
  connect(): Promise<void>
  /** False behind a pooler, whose sessions are not ours: nothing may be set there (C15). */
  isDirect(): Promise<boolean>
  prepare(longestLeaseMs: number): Promise<void>
  /** Takes the lock of a worker for this session. Null: records that a pooler is in between. */
  take(workerId: string, lock: { key: number; graceMs: number } | null): Promise<void>
  leave(workerId: string): Promise<void>
  /** Takes a place among the sessions that look. False if two do already. */
  watch(): Promise<boolean>
  look(): Promise<PresenceLook>
  /** From now on. */
  untilLost(): Promise<Error>
  end(): Promise<void>
  /** Without a word to the server. */
  destroy(): void
  failureOf(error: unknown): PresenceFailure
}
