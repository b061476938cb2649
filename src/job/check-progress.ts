import { invalidArgument } from '../errors/index.ts'
import type { JobProgress } from './job.ts'

const MAX_TEXT = 200

/** Checked as in the database. */
export function checkProgress({ value, text }: JobProgress): void {
  if (!(typeof value === 'number' && value >= 0 && value <= 1))
    throw invalidArgument('progress', value, 'a number from 0 to 1')
  if (text === null) return
  // A character outside the basic plane counts once, as in PostgreSQL.
  const length = typeof text === 'string' ? Array.from(text).length : 0
  if (length < 1 || length > MAX_TEXT || text.includes('\0'))
    throw invalidArgument('progress_text', text, `1 to ${MAX_TEXT} characters`)
}
