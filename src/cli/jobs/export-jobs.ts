// Exported jobs, as in the HTTP API: without lease ids, which are credentials, and with secrets redacted in payload, result
// and reason.
import type { JsonValue } from '../../job/job.ts'
import { redactJson, redactText } from '../../observe/redact.ts'
import type { JobSummary } from '../../store/job-store.ts'

export const exportFormats = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportedJob extends Omit<JobSummary, 'leaseId' | 'finishedLeaseId'> {
  table: string
}

export function exportedJob(table: string, job: JobSummary): ExportedJob {
  const { leaseId: _held, finishedLeaseId: _finished, error, payload, result, ...fields } = job
  const reason = error?.reason == null ? null : redactText(error.reason)
  return {
    table,
    ...fields,
    error: error === null ? null : { ...error, reason },
    ...(payload === undefined ? {} : { payload: redactJson(payload) }),
    ...(result === undefined ? {} : { result: redactJson(result) }),
  }
}

const columns = {
  table: ({ table }) => table,
  id: ({ id }) => id,
  type: ({ type }) => type,
  queue: ({ queue }) => queue,
  status: ({ status }) => status,
  priority: ({ priority }) => priority,
  owner: ({ owner }) => owner,
  stage: ({ stage }) => stage,
  attempt: ({ attempt }) => attempt,
  failures: ({ failures }) => failures,
  crashes: ({ crashes }) => crashes,
  timeouts: ({ timeouts }) => timeouts,
  max_attempts: ({ maxAttempts }) => maxAttempts,
  created_at: ({ createdAt }) => createdAt,
  run_at: ({ runAt }) => runAt,
  started_at: ({ startedAt }) => startedAt,
  finished_at: ({ finishedAt }) => finishedAt,
  worker_id: ({ workerId }) => workerId,
  error_code: ({ error }) => error?.code ?? null,
  error_reason: ({ error }) => error?.reason ?? null,
  cause_id: ({ causeId }) => causeId,
} satisfies Record<string, (job: ExportedJob) => Date | string | number | null>

const payloadColumns = {
  payload: ({ payload }: ExportedJob) => payload,
  result: ({ result }: ExportedJob) => result,
}

export function csvHead(withPayload: boolean): string {
  const names = [...Object.keys(columns), ...(withPayload ? Object.keys(payloadColumns) : [])]
  return `${names.join(',')}\r\n`
}

export function csvRow(job: ExportedJob, withPayload: boolean): string {
  const cells = Object.values(columns).map((read) => read(job))
  const json = withPayload ? Object.values(payloadColumns).map((read) => jsonText(read(job))) : []
  return `${[...cells, ...json].map(csvCell).join(',')}\r\n`
}

const jsonText = (value: JsonValue | undefined) => (value == null ? null : JSON.stringify(value))

/** RFC 4180. An apostrophe escapes text that a spreadsheet would read as a formula. */
function csvCell(value: Date | string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = value instanceof Date ? value.toISOString() : value.replace(/^(?=[=+\-@\t\r])/, "'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
