// Actions of the reaper of the invented deployment, and the limits of its dependencies.
import type {
  RateLimitList,
  Reclaim,
  ReclaimList,
  StaleList,
  StaleValidation,
  SweepList,
} from '../../../../src/http/contract/index.ts'
import { toWireStale } from '../../../../src/http/wire/rescues.ts'
import type { StaleJob } from '../../../../src/store/job-store.ts'
import { type FakeWorld, WORKERS } from './fake-world.ts'
import { iso } from './iso.ts'

type Without<Answer> = Omit<Answer, 'db_now'>

export function reclaimsOf(world: FakeWorld, query: URLSearchParams): Without<ReclaimList> {
  const reclaims = world.events
    .filter(({ type }) => type === 'reaper:requeued')
    .map(({ id, job_id, table, at, details }, index): Reclaim => {
      const heartbeat = typeof details['last_heartbeat_at'] === 'string' ? details['last_heartbeat_at'] : at
      const lateness = 400 + ((index * 937) % 4_200)
      const claimedMs = Date.parse(at) + 2_100 + ((index * 731) % 900)
      return {
        id,
        job_id,
        table,
        type: 'run_asr',
        stage: typeof details['stage'] === 'string' ? details['stage'] : null,
        attempt: 1,
        worker_id: String(details['locked_by']),
        reaped_at: at,
        action: 'requeued',
        reason: 'lease_expired',
        last_heartbeat_at: heartbeat,
        lease_expires_at: iso(Date.parse(at) - lateness),
        lateness_ms: lateness,
        dark_ms: claimedMs - Date.parse(heartbeat),
        claimed_again_at: iso(claimedMs),
        claimed_by: WORKERS[index % WORKERS.length] ?? null,
        next_run_at: iso(Date.parse(at) + 2_000),
      }
    })
    .filter(({ table, stage, worker_id }) => {
      const isAsked = (name: string, value: string | null) => [null, value].includes(query.get(name))
      return isAsked('table', table) && isAsked('stage', stage) && isAsked('worker_id', worker_id)
    })
  return { reclaims: reclaims.slice(0, Number(query.get('limit') ?? 50)), next_cursor: null }
}

export function staleOf(world: FakeWorld): Without<StaleList> {
  const job = [...world.jobs.values()].find(({ status }) => status === 'running')
  if (job === undefined) return { jobs: [], count: 0, is_complete: true }
  const { id: jobId, table, type, stage, worker_id: workerId, attempt, heartbeat_at } = job
  const stale: StaleJob = {
    jobId,
    type,
    stage: stage ?? type,
    workerId,
    attempt,
    heartbeatAt: heartbeat_at === null ? null : new Date(heartbeat_at),
    endedAt: new Date(Date.now() - 12_000),
    overdueMs: 12_000,
    leaseMs: 60_000,
    isPastTwiceLease: false,
    code: 'ROW_LOCKED',
    lockedBy: { pid: 8123, application: 'psql', state: 'idle in transaction', openMs: 840_000 },
    reaperAgeMs: 640,
  }
  return { jobs: [toWireStale({ table, value: stale })], count: 1, is_complete: true }
}

export const validationOf = (): Without<StaleValidation> => ({ is_valid: true, count: 0, jobs: [] })

export function sweepsOf(world: FakeWorld): Without<SweepList> {
  const found = world.events.length
  const sweeps = Array.from({ length: Math.min(24, found * 3) }, (_, index) => {
    const requeued = 1 + ((index * 5) % 4)
    const dead = index % 6 === 2 ? 1 : 0
    return {
      id: String(500 - index),
      table: 'jobs',
      began_at: iso(world.startedAtMs - 11_000 - index * 47_000),
      reaper_id: index === 3 ? null : (WORKERS[index % WORKERS.length] ?? null),
      actor: index === 3 ? 'ana' : null,
      note: index === 3 ? 'after the deploy' : null,
      duration_ms: 4 + ((index * 7) % 11),
      found: requeued + dead + (index % 9 === 4 ? 1 : 0),
      requeued,
      dead,
      cancelled: 0,
      skipped: index % 9 === 4 ? 1 : 0,
      held: 0,
      hold_reason: null,
    }
  })
  const none = { found: 0, requeued: 0, dead: 0, cancelled: 0, skipped: 0, held: 0 }
  const swept_at = iso(Date.now() - 640)
  const last = [{ table: 'jobs', reaper_id: WORKERS[0] ?? null, swept_at, duration_ms: 3, ...none }]
  return { last, sweeps, next_cursor: null }
}

export function rateLimitsOf(world: FakeWorld): Without<RateLimitList> {
  if (world.jobs.size === 0) return { rate_limits: [], is_complete: true }
  const limit = (name: string, owner: string | null, tokens: number, burst: number, rate_per_s: number) => ({
    key: owner === null ? name : `${name}:${owner}`,
    name,
    owner,
    rate_per_s,
    burst,
    tokens,
    next_token_in_ms: tokens === burst ? 0 : 1000 / rate_per_s,
    full_in_ms: ((burst - tokens) / rate_per_s) * 1000,
    used_at: iso(Date.now() - 1_200),
  })
  return {
    rate_limits: [
      limit('gateway', null, 31, 50, 10),
      limit('gateway', 'user-3', 0, 10, 0.5),
      limit('gateway', 'user-1', 2, 10, 0.5),
      limit('gateway', 'user-5', 9, 10, 0.5),
      limit('converter', null, 4, 4, 1),
    ],
    is_complete: true,
  }
}
