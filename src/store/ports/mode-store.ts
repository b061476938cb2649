// How far the engine goes on a table: a team can observe first and reap later.

export interface ModeStore {
  readMode(): Promise<ModeStatus>
  readAttachment(): Promise<Attachment>
  /** Applies from the next sweep and the next write on. `enforce` adds a trigger to the table; leaving it drops it. */
  setMode(mode: TableMode, options?: ModeOptions): Promise<ModeStatus>
  /** Findings of sweeps in mode observe, the last time it was set. */
  readObservations(): Promise<Observations>
}

/** With an `actor` the change is in the audit log. */
export interface ModeOptions {
  onForeignSettle?: OnForeignSettle
  actor?: string
  reason?: string
}

/**
 * - `observe`: sweeps only record findings
 * - `reap`: sweeps reap
 * - `enforce`: sweeps reap, and writers without a lease are fenced
 */
export type TableMode = 'observe' | 'reap' | 'enforce'

/** Whether a writer that knows no leases may end a leased job: its write is recorded, or refused. Default: record. */
export type OnForeignSettle = 'record' | 'refuse'

export interface ModeStatus {
  mode: TableMode
  onForeignSettle: OnForeignSettle
  /** Null if the mode was never changed. */
  since: Date | null
}

export interface Attachment extends ModeStatus {
  profile: string
  /** Schema and table. */
  relation: string
  attachedAt: Date
}

/** Each expired lease counts once in the first three, and once in the last four. */
export interface Observations {
  /** Null if nothing was ever observed. */
  since: Date | null
  wouldRequeue: number
  wouldDeadLetter: number
  wouldCancel: number
  /** Showed a sign of life afterwards: a reap would have been wrong. */
  cameBack: number
  stillStuck: number
  /** Reaped manually. */
  reaped: number
  gone: number
}
