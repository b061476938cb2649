// Columns of a job list: selected in the address, used by the table and the export.
import type { Job } from '../../../src/http/contract/index.ts'

export interface JobColumn {
  key: string
  name: string
  /** A text, a number or a database time; null if missing. */
  value: (job: Job) => unknown
  isTime?: boolean
}

const column = (key: string, name: string, value: JobColumn['value']): JobColumn => ({ key, name, value })
const timeColumn = (key: keyof Job, name: string): JobColumn => {
  return { key, name, value: (job) => job[key], isTime: true }
}

export const jobColumns: readonly JobColumn[] = [
  column('type', 'Type', ({ type }) => type),
  column('status', 'Status', ({ status }) => status),
  column('stage', 'Stage', ({ stage }) => stage),
  column('try', 'Attempt', ({ attempt, max_attempts }) =>
    max_attempts === null ? attempt : `${attempt} of ${max_attempts}`,
  ),
  column('note', 'Worker or error', noteOf),
  timeColumn('created_at', 'Created'),
  column('queue', 'Queue', ({ queue }) => queue),
  column('owner', 'Owner', ({ owner }) => owner),
  column('priority', 'Priority', ({ priority }) => priority),
  column('worker', 'Worker', ({ worker_id }) => worker_id),
  column('code', 'Error code', (job) => failureOf(job)?.code),
  column('reason', 'Error', (job) => failureOf(job)?.reason),
  column('cause', 'Cause', ({ cause_id }) => cause_id),
  column('failures', 'Failures', ({ failures }) => failures),
  column('crashes', 'Crashes', ({ crashes }) => crashes),
  column('timeouts', 'Timeouts', ({ timeouts }) => timeouts),
  column('dedupe_key', 'Dedupe key', ({ dedupe_key }) => dedupe_key),
  column('generation', 'Generation', ({ generation }) => generation),
  timeColumn('run_at', 'Due'),
  timeColumn('started_at', 'Started'),
  timeColumn('finished_at', 'Finished'),
  timeColumn('heartbeat_at', 'Last heartbeat'),
  timeColumn('lease_expires_at', 'Lease ends'),
  timeColumn('deadline_at', 'Deadline'),
]

const initialKeys = ['type', 'status', 'stage', 'try', 'note', 'created_at']
const PATH = /^payload(?:\.[\w-]+){1,8}$/

export const isPayloadKey = (key: string) => key.startsWith('payload.')

/** The columns in the address. Default: the standard ones. Unknown names are ignored. */
export function columnsOf(text: string | null): JobColumn[] {
  const keys = text === null ? initialKeys : text.split(',')
  return [...new Set(keys)].flatMap((key) => columnOf(key) ?? [])
}

/** Null if unknown; `payload.user.id` works for any path. */
export function columnOf(key: string): JobColumn | null {
  const found = jobColumns.find((one) => one.key === key)
  if (found !== undefined) return found
  return PATH.test(key) ? column(key, key, ({ payload }) => valueAt(payload, key.split('.').slice(1))) : null
}

/** For the address; null for the standard columns. */
export function columnsText(keys: string[]): string | null {
  const text = keys.join(',')
  return text === initialKeys.join(',') ? null : text
}

function valueAt(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined,
    value,
  )
}

/** Text of a cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** With details, if the viewer may see them. */
export function failureOf({
  error,
  error_detail,
}: Job): { code: string | null; reason: string | null } | null {
  return error_detail ?? error
}

function noteOf(job: Job): string | null {
  if (job.status === 'running') return job.worker_id
  const failure = failureOf(job)
  return failure?.code == null ? null : `${failure.code} ${failure.reason ?? ''}`.trim()
}
