// The purpose of each column of a job table, and which of them attach adds to a team's table (ADR 0034).
import type { Policy } from '../policy/policy.ts'
import {
  columnName,
  type Feature,
  featureNames,
  type LogicalColumn,
  logicalColumns,
  type TableProfile,
} from './profile.ts'

/** Every attached table has these: leases, retries and budgets need them. */
const core = {
  id: 'the key',
  status: 'the state',
  created_at: 'the order of the jobs',
  run_at: 'when a retry is due',
  worker_id: 'who runs the job',
  lease_id: 'which claim of it is current: only that one can end it',
  lease_expires_at: 'when the job is taken back',
  heartbeat_at: 'the last sign of life',
  fence: 'grows with every claim, for the systems that a handler writes to',
  finished_lease_id: 'the claim that ended it: a repeated call gets the same answer',
  finished_at: 'when it ended, for retention',
  attempt: 'how often it was claimed',
  failures: 'failures, for their budget',
  crashes: 'crashes, for their budget',
  generation: 'manual retries: whoever saw an earlier one cannot change the job',
  reaped_at: 'when it was taken back, for the time that a rescue took',
  error_code: 'why the last attempt failed: the code',
  error_reason: 'why the last attempt failed: the text',
} satisfies Partial<Record<LogicalColumn, string>>

interface FeatureUse {
  columns: LogicalColumn[]
  why: string
  /** Whether a table with this policy needs it. */
  isNeeded?: (policy: Policy) => boolean
}

const isFilled = (map: object) => Object.keys(map).length > 0

const features: Record<Feature, FeatureUse> = {
  deadlines: {
    columns: ['deadline_at', 'timeouts'],
    why: 'ends attempts that hang, by defaultDeadlineMs, maxRuntimeMs and the like in the policy',
    isNeeded: (policy) =>
      policy.defaultDeadlineMs > 0 ||
      policy.maxRuntimeMs > 0 ||
      isFilled(policy.stageDeadlinesMs) ||
      isFilled(policy.typeRuntimesMs),
  },
  stages: {
    columns: ['stage', 'expected_duration_ms', 'last_attempt_at'],
    why: 'leases by stage and by expected duration; enterStage',
    isNeeded: ({ stageFactors }) => isFilled(stageFactors),
  },
  dedupe: { columns: ['dedupe_key'], why: 'enqueues a job once per dedupe key' },
  cancel: { columns: ['cancel_requested_at'], why: 'cancels running jobs' },
  payload: { columns: ['payload'], why: 'payloads of jobs that are enqueued through unstuck' },
  queues: { columns: ['type', 'queue'], why: 'several types of jobs and queues in the table' },
  priority: { columns: ['priority'], why: 'claims urgent jobs first' },
  owners: { columns: ['owner'], why: 'lists, retries and cancels jobs by owner' },
  'max-attempts': { columns: ['max_attempts'], why: 'a maximum of attempts per job' },
  results: { columns: ['result'], why: 'keeps what handlers return' },
  errors: {
    columns: ['error_category', 'error_stack', 'error_attempt'],
    why: 'category, stack and attempt of the last failure',
  },
  times: {
    columns: ['updated_at', 'queued_at', 'started_at', 'last_attempt_at'],
    why: 'how long jobs waited and ran',
  },
  releases: { columns: ['releases', 'interruptions'], why: 'counts how often a job was given back' },
  tracing: { columns: ['traceparent'], why: 'links the trace of an attempt to that of the enqueue' },
  backoff: { columns: ['backoff_steps_ms'], why: 'waits between attempts per job' },
  expiry: { columns: ['expires_at'], why: 'jobs that are not started after a time' },
  progress: { columns: ['progress_value', 'progress_text'], why: 'keeps the progress that handlers report' },
  groups: { columns: ['group_key'], why: 'groups of jobs that take turns, with limits and order' },
}

/** Its columns, by their names in the engine. */
export const columnsOf = (feature: Feature): readonly LogicalColumn[] => features[feature].columns

/** The feature that a column belongs to, the first if there are several; null for those that every table has. */
export function featureOf(column: LogicalColumn): Feature | null {
  return featureNames.find((feature) => columnsOf(feature).includes(column)) ?? null
}

/** Features that lack one of these columns. */
export const featuresWithout = (absent: ReadonlySet<LogicalColumn>): Feature[] =>
  featureNames.filter((feature) => columnsOf(feature).some((column) => absent.has(column)))

/** The purpose of a column, as a plan says it. */
export function whyColumn(column: LogicalColumn): string {
  const feature = featureOf(column)
  if (feature !== null) return features[feature].why
  return core[column as keyof typeof core]
}

/** Features that jobs under this policy need. */
export const neededFeatures = (policy: Policy): Feature[] =>
  featureNames.filter((feature) => features[feature].isNeeded?.(policy) === true)

/** Features that the profile of a table uses: those that attach enables by itself. */
const usedFeatures = (table: TableProfile): Feature[] => [
  ...neededFeatures(table.policy),
  ...(table.features ?? []),
  ...(table.hasUniqueDedupeKey === true ? (['dedupe'] as const) : []),
]

/** Columns that attach adds unless the table has them: those of every table, of its features, and those the profile names. */
export function wantedColumns(table: TableProfile, chosen: readonly Feature[] = []): Set<LogicalColumn> {
  const named = logicalColumns.filter((column) => table.columns[column] !== undefined)
  return new Set([
    ...(Object.keys(core) as LogicalColumn[]),
    ...[...usedFeatures(table), ...chosen].flatMap(columnsOf),
    ...named,
  ])
}

/** Columns that a table does not have, by their names in the engine. Its state may be in times instead of a status. */
export function missingColumns(table: TableProfile, present: Record<string, unknown>): LogicalColumn[] {
  return logicalColumns.filter(
    (column) =>
      !(columnName(table, column) in present) && !(column === 'status' && table.stateColumns !== undefined),
  )
}
