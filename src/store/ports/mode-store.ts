// The part of the store port that says how far the engine goes on a table, so that a team can look first and act later.

export interface ModeStore {
  readMode(): Promise<ModeStatus>
  /** Which table this is, and how far the engine goes on it. */
  readAttachment(): Promise<Attachment>
  /** Takes effect with the next sweep and the next write of anyone. `enforce` puts a trigger on the table; leaving it takes it off. */
  setMode(mode: TableMode, options?: { onForeignSettle?: OnForeignSettle }): Promise<ModeStatus>
  /** What sweeps would have done while the mode was observe, the last time it was. */
  readObservations(): Promise<Observations>
}

/** observe: a reaper's sweep only notes what it would do. reap: it acts. enforce: it acts, and writers without a lease are fenced. */
export type TableMode = 'observe' | 'reap' | 'enforce'

/** Of a writer that knows no leases and ends a job that is leased: its write counts and is recorded, or fails. Record where nobody says. */
export type OnForeignSettle = 'record' | 'refuse'

export interface ModeStatus {
  mode: TableMode
  onForeignSettle: OnForeignSettle
  /** Null where the mode was never changed. */
  since: Date | null
}

export interface Attachment extends ModeStatus {
  profile: string
  /** As the database knows it: schema and table. */
  relation: string
  attachedAt: Date
}

/** Each lease that ran out counts once in the first three, and once in the last four. */
export interface Observations {
  /** Null where nothing was ever observed. */
  since: Date | null
  wouldRequeue: number
  wouldDeadLetter: number
  wouldCancel: number
  /** Showed a sign of life afterwards: a reap would have been wrong. */
  cameBack: number
  stillStuck: number
  /** Taken back by hand. */
  reaped: number
  gone: number
}
