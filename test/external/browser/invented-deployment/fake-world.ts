// An invented deployment for dashboard development and browser tests: running jobs, a silent worker, dead letters, an open
// breaker. It follows the HTTP contract and needs no database.
import { toPublicCode } from '../../../../src/errors/index.ts'
import type {
  DeadLetterGroup,
  Job,
  JobEvent,
  Queue,
  RunningJob,
  TableHealth,
} from '../../../../src/http/contract/index.ts'
import { remediesOf } from '../../../../src/policy/explain/remedy.ts'
import type { Breaker } from '../../../../src/store/job-store.ts'
import { breakersOf, queuesOf } from './fake-dependencies.ts'
import { iso } from './iso.ts'

export interface FakeWorld {
  startedAtMs: number
  jobs: Map<string, Job>
  events: JobEvent[]
  groups: DeadLetterGroup[]
  breakers: Breaker[]
  queues: Queue[]
}

export const STAGES = [
  { stage: 'asr', type: 'run_asr', queue: 'media', leaseMs: 60_000, count: 9 },
  { stage: 'run_tsa', type: 'run_tsa', queue: 'media', leaseMs: 30_000, count: 7 },
  { stage: 'burnin', type: 'burn_in', queue: 'render', leaseMs: 90_000, count: 5 },
  { stage: 'upload', type: 'upload_clip', queue: 'io', leaseMs: 20_000, count: 4 },
] as const
export const WORKERS = ['ip-10-0-3-7:4121', 'ip-10-0-3-9:880', 'ip-10-0-4-2:1733', 'ip-10-0-4-5:12']

/** Deterministic ids in the engine's format. */
function idOf(number: number): string {
  const hex = (number * 2_654_435_761).toString(16).padStart(12, '0').slice(-12)
  return `0198c1d4-6f0e-7c3a-9a51-${hex}`
}

function jobOf(number: number, changes: Partial<Job>, now: number): Job {
  return {
    id: idOf(number),
    table: 'jobs',
    type: 'run_asr',
    queue: 'media',
    status: 'waiting',
    priority: 0,
    owner: `user-${(number % 7) + 1}`,
    dedupe_key: null,
    stage: null,
    expected_duration_ms: 45_000,
    created_at: iso(now - 600_000 - number * 1000),
    updated_at: iso(now - 4_000),
    queued_at: iso(now - 590_000),
    run_at: null,
    started_at: null,
    finished_at: null,
    last_attempt_at: null,
    worker_id: null,
    lease_expires_at: null,
    lease_remaining_ms: null,
    heartbeat_at: null,
    deadline_at: null,
    fence: String(40 + number),
    attempt: 1,
    failures: 0,
    crashes: 0,
    timeouts: 0,
    releases: 0,
    interruptions: 0,
    max_attempts: 5,
    generation: 1,
    cancel_requested_at: null,
    reaped_at: null,
    error: null,
    traceparent: null,
    backoff_steps_ms: null,
    progress: null,
    group: null,
    expires_at: null,
    payload: {
      source: `s3://clips/${number}.mp4`,
      user: { id: 42 + number, email: '[redacted]' },
      api_key: '[redacted]',
    },
    ...changes,
  }
}

function runningJobs(now: number): Job[] {
  return STAGES.flatMap(({ stage, type, queue, leaseMs, count }, group) =>
    Array.from({ length: count }, (_, index) => {
      const number = group * 20 + index + 1
      const isSilent = index === 0 && group < 2
      const heartbeat = now - (isSilent ? leaseMs * 0.86 : (index * 2_713) % (leaseMs * 0.4))
      return jobOf(
        number,
        {
          type,
          queue,
          stage,
          status: 'running',
          started_at: iso(now - 90_000 - index * 4_000),
          heartbeat_at: iso(heartbeat),
          lease_expires_at: iso(heartbeat + leaseMs),
          deadline_at: iso(now + leaseMs * 6),
          worker_id: isSilent ? 'ip-10-0-3-3:907' : (WORKERS[number % WORKERS.length] ?? null),
          attempt: (index % 3) + 1,
          ...(stage === 'upload' ? { table: 'uploads' } : {}),
        },
        now,
      )
    }),
  )
}

const CAUSES = [
  {
    code: 'GW_5XX',
    category: 'TRANSIENT',
    reason: 'gateway answered 503 after 3 tries',
    jobs: 41,
    crashes: 0,
    type: 'run_tsa',
  },
  {
    code: 'SOURCE_UNREADABLE',
    category: 'PERMANENT',
    reason: 'moov atom not found',
    jobs: 12,
    crashes: 0,
    type: 'run_asr',
  },
  {
    code: 'lease_expired',
    category: 'TRANSIENT',
    reason: 'worker fell silent 3 times',
    jobs: 3,
    crashes: 3,
    type: 'burn_in',
  },
] as const

function deadJobs(now: number): Job[] {
  return CAUSES.flatMap(({ code, category, reason, jobs, crashes, type }, group) =>
    Array.from({ length: jobs }, (_, index) =>
      jobOf(
        200 + group * 50 + index,
        {
          type,
          status: 'dead',
          stage: type === 'burn_in' ? 'burnin' : type,
          attempt: 3,
          failures: crashes > 0 ? 0 : 3,
          crashes,
          finished_at: iso(now - 120_000 - index * 60_000),
          progress: { value: 0.4, text: 'segment 12 of 30' },
          cause_id: `cause-${group + 1}`,
          error: { code: toPublicCode(code), reason, category, attempt: 3 },
          error_detail: { code, reason },
        },
        now,
      ),
    ),
  )
}

function waitingJobs(now: number): Job[] {
  return Array.from({ length: 30 }, (_, index) =>
    jobOf(400 + index, { run_at: iso(now + (index - 12) * 9_000), attempt: index % 4 === 0 ? 1 : 0 }, now),
  )
}

/** Newest first, like the server. */
export function addWaiting(world: FakeWorld, count: number): void {
  const known = world.jobs.size
  const added = Array.from({ length: count }, (_, index) => {
    const job = jobOf(10_000 + known + index, {}, Date.now())
    return [job.id, job] as const
  })
  world.jobs = new Map([...added, ...world.jobs])
}

function rescueEvents(jobs: Job[], now: number): JobEvent[] {
  return jobs.slice(0, 8).map((job, index) => ({
    id: String(900 - index),
    job_id: job.id,
    table: 'jobs',
    type: 'reaper:requeued',
    at: iso(now - 11_000 - index * 47_000),
    details: {
      reason: 'lease_expired',
      cause: 'crash',
      locked_by: 'ip-10-0-3-3:907',
      attempt: 1,
      stage: job.stage,
      last_heartbeat_at: iso(now - 30_000 - index * 47_000),
      lease_expires_at: iso(now - 12_000 - index * 47_000),
      next_run_at: iso(now - 9_000 - index * 47_000),
      backoff_ms: 2_000,
    },
  }))
}

function groupsOf(now: number): DeadLetterGroup[] {
  return CAUSES.map(({ code, category, reason, jobs, crashes }, index) => ({
    cause_id: `cause-${index + 1}`,
    table: 'jobs',
    code,
    category,
    jobs,
    first_at: iso(now - 7_200_000 * (index + 1)),
    last_at: iso(now - 120_000 * (index + 1)),
    example_reason: reason,
    example_job_id: idOf(200 + index * 50),
    max_crashes: crashes,
    state: index === 1 ? ('resolved' as const) : ('new' as const),
    changed_by: index === 1 ? 'ana' : null,
    changed_at: index === 1 ? iso(now - 3_600_000) : null,
    state_reason: index === 1 ? 'the encoder was replaced' : null,
    back_since: index === 1 ? iso(now - 1_860_000) : null,
  }))
}

export function createWorld(kind: 'full' | 'empty', now = Date.now()): FakeWorld {
  const world = { startedAtMs: now, jobs: new Map(), events: [], groups: [], breakers: [], queues: [] }
  if (kind === 'empty') return world
  const running = runningJobs(now)
  const jobs = [...running, ...deadJobs(now), ...waitingJobs(now)]
  return {
    startedAtMs: now,
    jobs: new Map(jobs.map((job) => [job.id, job])),
    events: rescueEvents(running, now),
    groups: groupsOf(now),
    breakers: breakersOf(now),
    queues: queuesOf(),
  }
}

/** Renews every lease that is a third used, except those of the silent worker, which are requeued. */
export function advance(world: FakeWorld, now: number): JobEvent[] {
  const written: JobEvent[] = []
  for (const job of world.jobs.values()) {
    if (job.status !== 'running' || job.lease_expires_at === null || job.heartbeat_at === null) continue
    const leaseMs = Date.parse(job.lease_expires_at) - Date.parse(job.heartbeat_at)
    const left = Date.parse(job.lease_expires_at) - now
    if (job.worker_id === 'ip-10-0-3-3:907' && left > -1_500) continue
    if (left < -1_500) {
      written.push({
        id: String(1000 + world.events.length),
        job_id: job.id,
        table: 'jobs',
        type: 'reaper:requeued',
        at: iso(now),
        details: {
          locked_by: job.worker_id,
          stage: job.stage,
          attempt: job.attempt,
          last_heartbeat_at: job.heartbeat_at,
        },
      })
      job.worker_id = 'ip-10-0-4-2:1733'
      job.attempt += 1
    } else if (left > leaseMs * 0.66) continue
    job.heartbeat_at = iso(now)
    job.lease_expires_at = iso(now + leaseMs)
  }
  world.events.unshift(...written)
  return written
}

export function leasesOf(world: FakeWorld, now: number): RunningJob[] {
  return [...world.jobs.values()]
    .filter(({ status }) => status === 'running')
    .map((job) => ({
      ...job,
      lease_remaining_ms: job.lease_expires_at === null ? null : Date.parse(job.lease_expires_at) - now,
    }))
}

/** Supports the filter keys used by the tests. */
export function fitsFilter(job: Job, q: string): boolean {
  const tokens = q.split(/\s+/).filter(Boolean)
  const words = new Map(tokens.map((token) => [token.split(':')[0], token.split(':').slice(1).join(':')]))
  const isAsked = (key: string, value: string | null | undefined) =>
    !words.has(key) || words.get(key) === value
  return (
    isAsked('status', job.status) &&
    isAsked('type', job.type) &&
    isAsked('stage', job.stage) &&
    isAsked('worker', job.worker_id) &&
    isAsked('cause', job.cause_id)
  )
}

export const TABLES = ['jobs', 'uploads']

export const healthsOf = (world: FakeWorld) => TABLES.map((table) => healthOf(world, table))

function healthOf(world: FakeWorld, table: string): TableHealth {
  const jobs = [...world.jobs.values()].filter((job) => job.table === table)
  const count = (status: string) => jobs.filter((job) => job.status === status).length
  const sweeps = { overdue: 0, running: count('running'), reaperAgeMs: 640, sweepIntervalMs: 5_000 }
  return {
    table,
    waiting: count('waiting'),
    due: Math.min(13, count('waiting')),
    running: sweeps.running,
    overdue: sweeps.overdue,
    oldest_overdue_ms: null,
    oldest_due_ms: count('waiting') === 0 ? null : 192_000,
    unjudged: 0,
    released_often: 0,
    reaper_age_ms: sweeps.reaperAgeMs,
    sweep_interval_ms: sweeps.sweepIntervalMs,
    hold_reason: null,
    hidden: null,
    silent_shards: [],
    is_healthy: true,
    is_reaper_late: false,
    remedies: remediesOf({ ...sweeps, holdReason: null }),
    at_least: [],
  }
}
