// Notices for operators about nodes that are not understood.

export interface NodeNotice {
  /** The label. */
  table: string
  /** Null if it is about several nodes. */
  jobId: string | null
  reason: string
}

/** For a program that does not listen. */
export function warnOf({ table, jobId, reason }: NodeNotice): void {
  const about = [table, jobId].filter((part) => part !== null).join(' ')
  process.emitWarning(`${about}: ${reason}`, { type: 'UnstuckWarning' })
}
