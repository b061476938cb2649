import { invalidArgument } from '../../../errors/index.ts'
import type { Job, JobStatus } from '../../../job/job.ts'
import { stageOf } from '../../../job/stage.ts'
import type {
  DeadJobGroup,
  DeadJobGroups,
  GroupOptions,
  JobFilter,
  JobPage,
  JobSummary,
  ListOptions,
} from '../../ports/reading-store.ts'
import { isOverdue } from '../reaping/reap-plan.ts'
import { checkText, checkWhole } from '../state/checks.ts'
import { jobsInIdOrder, type MemoryCause, type MemoryState } from '../state/memory-state.ts'
import { causeId } from './cause-id.ts'

const CENTURY_MS = 3_153_600_000_000
const STATUSES: JobStatus[] = ['waiting', 'running', 'succeeded', 'dead', 'cancelled']
const TEXTS = ['type', 'queue', 'owner', 'workerId', 'stage', 'errorCode', 'causeId'] as const
const DURATIONS = ['olderThanMs', 'youngerThanMs'] as const
const FILTERS: string[] = ['status', 'isOverdue', ...TEXTS, ...DURATIONS]

export function listJobs(state: MemoryState, filter: JobFilter, options: ListOptions): JobPage {
  checkFilter(filter)
  checkWhole(options.limit, 'limit', 1, 1000)
  const { limit = 100, cursor, withPayload = false } = options
  const found = jobsInIdOrder(state)
    .toReversed()
    .filter((job) => (cursor === undefined || job.id < cursor) && fits(state, job, filter))
  const jobs = found.slice(0, limit).map((job) => summaryOf(state, job, withPayload))
  const last = jobs.length < limit ? undefined : jobs.at(-1)
  return { jobs, next: last?.id ?? null, searchedTo: last?.createdAt ?? null }
}

export function checkFilter(filter: JobFilter): void {
  const unknown = Object.keys(filter).find((name) => !FILTERS.includes(name))
  if (unknown !== undefined) throw invalidArgument('filter', unknown, FILTERS.join(', '))
  if (filter.status !== undefined && !STATUSES.includes(filter.status))
    throw invalidArgument('status', filter.status, STATUSES.join(', '))
  if (filter.isOverdue !== undefined && typeof filter.isOverdue !== 'boolean')
    throw invalidArgument('isOverdue', filter.isOverdue, 'true or false')
  for (const name of TEXTS) {
    const text: unknown = filter[name]
    if (text !== undefined && typeof text !== 'string') throw invalidArgument(name, text, 'text')
  }
  for (const name of DURATIONS) {
    const ms = filter[name]
    if (ms !== undefined && !(ms >= 0 && ms <= CENTURY_MS))
      throw invalidArgument(name, ms, 'milliseconds from 0 to a hundred years')
  }
}

export function fits(state: MemoryState, job: Job, filter: JobFilter): boolean {
  const moment = { nowMs: state.nowMs(), policy: state.policy }
  const ageMs = moment.nowMs - job.createdAt.getTime()
  const criteria: [wanted: unknown, fact: unknown][] = [
    [filter.status, job.status],
    [filter.type, job.type],
    [filter.queue, job.queue],
    [filter.owner, job.owner],
    // Only a running job has a worker.
    [filter.workerId, job.status === 'running' ? job.workerId : null],
    [filter.stage, stageOf(job, state.policy.defaultStage)],
    [filter.errorCode, job.error?.code],
    [filter.causeId, causeOf(job)],
    [filter.isOverdue, isOverdue(moment, job)],
  ]
  return (
    criteria.every(([wanted, fact]) => wanted === undefined || wanted === fact) &&
    ageMs >= (filter.olderThanMs ?? Number.NEGATIVE_INFINITY) &&
    ageMs < (filter.youngerThanMs ?? Number.POSITIVE_INFINITY)
  )
}

function causeOf({ status, error }: Job): string | null {
  return status === 'dead' ? causeId(error?.code ?? null, error?.reason ?? null) : null
}

function summaryOf(state: MemoryState, job: Job, withPayload: boolean): JobSummary {
  const { payload, result, error, ...rest } = structuredClone(job)
  const { stack: _, ...shown } = error ?? {
    code: null,
    reason: null,
    category: null,
    attempt: null,
    stack: null,
  }
  return {
    ...rest,
    error: Object.values(shown).every((value) => value === null) ? null : shown,
    causeId: causeOf(job),
    leaseLeftMs: job.leaseExpiresAt === null ? null : job.leaseExpiresAt.getTime() - state.nowMs(),
    ...(withPayload ? { payload, result } : {}),
  }
}

export function findJobIds(state: MemoryState, prefix: string, limit: number): string[] {
  checkText('prefix', prefix, 200)
  checkWhole(limit, 'limit', 1, 100)
  const hex = (id: string) => id.toLowerCase().replaceAll('-', '')
  const ids = jobsInIdOrder(state).map(({ id }) => id)
  return ids.filter((id) => hex(id).startsWith(hex(prefix))).slice(0, limit)
}

export function groupDeadJobs(state: MemoryState, { limit = 100, owner }: GroupOptions): DeadJobGroups {
  checkWhole(limit, 'limit', 1, 1000)
  const dead = jobsInIdOrder(state)
    .toReversed()
    .filter((job) => job.status === 'dead' && (owner === undefined || job.owner === owner))
  const byCause = new Map<string, Job[]>()
  for (const job of dead) {
    const cause = causeOf(job) ?? ''
    byCause.set(cause, [...(byCause.get(cause) ?? []), job])
  }
  const groups = [...byCause].map(([cause, jobs]) => {
    const ends = jobs.map((job) => (job.finishedAt ?? job.updatedAt ?? job.createdAt).getTime())
    const newest = jobs[0]
    return {
      causeId: cause,
      code: newest?.error?.code ?? null,
      category: newest?.error?.category ?? null,
      jobs: jobs.length,
      firstAt: new Date(Math.min(...ends)),
      lastAt: new Date(Math.max(...ends)),
      exampleReason: newest?.error?.reason ?? null,
      exampleJobId: newest?.id ?? '',
      maxCrashes: Math.max(...jobs.map(({ crashes }) => crashes)),
      ...opinionOf(state.causes.get(cause), ends),
    }
  })
  const largestFirst = groups.toSorted((a, b) => b.jobs - a.jobs || (a.causeId < b.causeId ? -1 : 1))
  return { groups: largestFirst.slice(0, limit), isComplete: true }
}

type Opinion = Pick<DeadJobGroup, 'state' | 'changedAt' | 'changedBy' | 'stateReason' | 'backSince'>

function opinionOf(marked: MemoryCause | undefined, endsMs: number[]): Opinion {
  if (marked === undefined)
    return { state: 'new', changedAt: null, changedBy: null, stateReason: null, backSince: null }
  const { state, changedAtMs, changedBy, reason } = marked
  const since = state === 'resolved' ? endsMs.filter((endMs) => endMs > changedAtMs) : []
  return {
    state,
    changedAt: new Date(changedAtMs),
    changedBy,
    stateReason: reason,
    backSince: since.length === 0 ? null : new Date(Math.min(...since)),
  }
}
