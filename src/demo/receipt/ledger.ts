// What happened, written where no database can lose it: an append-only file that every process of the demo writes a line
// to. A line is one small write at the end of the file, so lines of several processes never mix.
import { appendFileSync, readFileSync } from 'node:fs'

/**
 * - `enqueued`: the demo was told the id of a job
 * - `effect`: a handler did its work, before it asked for the completion
 * - `accepted`: the database took that completion
 */
export interface LedgerLine {
  kind: 'enqueued' | 'effect' | 'accepted'
  jobId: string
  /** Of the attempt; 0 for a job that was only enqueued. */
  fence: number
}

export function writeLedger(file: string, line: LedgerLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

export function readLedger(file: string): LedgerLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LedgerLine)
}
