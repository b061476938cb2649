// Jobs as a file, page by page from the server: redacted as on the page.
import type { Job, JobList } from '../../../src/http/contract/index.ts'
import { cellText, type JobColumn } from './job-columns.ts'

export type ExportFormat = 'csv' | 'ndjson'

interface ExportInput {
  format: ExportFormat
  columns: JobColumn[]
  readPage: (cursor: string | null) => Promise<JobList>
  /** After each page. */
  tell: (jobs: number) => void
  signal: AbortSignal
}

/** The parts of the file; null if stopped. */
export async function exportJobs(input: ExportInput): Promise<string[] | null> {
  const { format, columns, readPage, tell, signal } = input
  const parts = format === 'csv' ? [csvLine(['id', 'table', ...columns.map(({ key }) => key)])] : []
  let count = 0
  let cursor: string | null = null
  do {
    const page: JobList = await readPage(cursor)
    if (signal.aborted) return null
    parts.push(page.jobs.map((job) => lineOf(job, format, columns)).join(''))
    count += page.jobs.length
    tell(count)
    cursor = page.next_cursor
  } while (cursor !== null)
  return parts
}

function lineOf(job: Job, format: ExportFormat, columns: JobColumn[]): string {
  if (format === 'ndjson') return `${JSON.stringify(job)}\n`
  return csvLine([job.id, job.table, ...columns.map(({ value }) => cellText(value(job)))])
}

/** RFC 4180. */
function csvLine(cells: string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(text: string): string {
  // A spreadsheet would run text that looks like a formula; payloads are untrusted.
  const isFormula = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
