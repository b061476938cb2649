// An append-only file outside the database, written by every demo process. A line is one small append, so lines of several
// processes never mix.
import { appendFileSync, readFileSync } from 'node:fs'

/**
 * - `enqueued`: the demo got the id of a job
 * - `effect`: a handler did its work, before the completion
 * - `accepted`: the database accepted the completion
 */
export interface LedgerLine {
  kind: 'enqueued' | 'effect' | 'accepted'
  jobId: string
  /** Fence of the attempt; 0 for an enqueued job. */
  fence: number
}

export function writeLedger(file: string, line: LedgerLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

export function readLedger(file: string): LedgerLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LedgerLine)
}
