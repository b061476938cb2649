// The life of a job on a time axis: a lane per attempt, with its dark time and the waits between.
import type { Attempt, Job, JobEvent } from '../../../src/http/contract/index.ts'

export type BandKind = 'run' | 'dark' | 'wait'

export interface Band {
  kind: BandKind
  /** Fractions of the whole, from 0 to 1. */
  from: number
  to: number
  ms: number
}

export interface Lane {
  attempt: Attempt
  bands: Band[]
}

export interface Mark {
  share: number
  event: JobEvent
  text: string
}

export interface Timeline {
  startMs: number
  endMs: number
  lanes: Lane[]
  marks: Mark[]
}

const timeOf = (time: string | null) => (time === null ? null : Date.parse(time))

/** Null without known attempts. */
export function timelineOf(
  job: Job,
  attempts: Attempt[],
  events: JobEvent[],
  nowMs: number,
): Timeline | null {
  const known = attempts.filter(
    ({ started_at, ended_at, last_heartbeat_at }) => (started_at ?? ended_at ?? last_heartbeat_at) !== null,
  )
  if (known.length === 0) return null
  const starts = known.map(startOf)
  const startMs = Math.min(...starts)
  const isOpen = job.status === 'running' || job.status === 'waiting'
  const ends = known.map(({ ended_at, next_run_at }) =>
    Math.max(timeOf(ended_at) ?? nowMs, isOpen ? (timeOf(next_run_at) ?? 0) : 0),
  )
  const endMs = Math.max(...ends, startMs + 1_000)
  const share = (ms: number) => Math.min(1, Math.max(0, (ms - startMs) / (endMs - startMs)))
  const band = (kind: BandKind, from: number, to: number): Band[] =>
    to > from ? [{ kind, from: share(from), to: share(to), ms: to - from }] : []
  const lanes = known.map((attempt, index) => {
    const start = startOf(attempt)
    const end = timeOf(attempt.ended_at) ?? nowMs
    const isSilent =
      attempt.outcome === 'reaped' || (attempt.outcome === 'running' && isPastLease(job, nowMs))
    const heard = isSilent ? (timeOf(attempt.last_heartbeat_at) ?? end) : end
    const nextStart = starts[index + 1]
    const waitEnd = nextStart ?? timeOf(attempt.next_run_at) ?? end
    return {
      attempt,
      bands: [...band('run', start, heard), ...band('dark', heard, end), ...band('wait', end, waitEnd)],
    }
  })
  const marks = events.flatMap((event): Mark[] => {
    const { actor, reason } = event.details
    if (typeof actor !== 'string') return []
    const why = typeof reason === 'string' ? `: “${reason}”` : ''
    return [{ share: share(Date.parse(event.at)), event, text: `${event.type} by ${actor}${why}` }]
  })
  return { startMs, endMs, lanes, marks }
}

/** Whether it still runs is not known from then on. */
function isPastLease({ lease_expires_at }: Job, nowMs: number): boolean {
  return lease_expires_at !== null && Date.parse(lease_expires_at) < nowMs
}

function startOf({ started_at, last_heartbeat_at, ended_at }: Attempt): number {
  return timeOf(started_at) ?? timeOf(last_heartbeat_at) ?? timeOf(ended_at) ?? 0
}
