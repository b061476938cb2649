import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import type { BreakerState } from '../../policy/dependency/breaker.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { RuntimeEventEmitter, type RuntimeEvents } from '../events.ts'
import { breakerStates } from './breaker-clock.ts'
import type { MetricReaders } from './metric-readings.ts'
import { createMetrics, type Metrics } from './metrics.ts'

const job = {
  jobId: 'job-1',
  leaseId: 'lease-1',
  type: 'asr',
  queue: 'asr',
  stage: 'asr',
  owner: 'owner-7',
  attempt: 2,
  fence: 3,
} as unknown as ClaimedJob

const reaped: RuntimeEvents['job:reaped'] = {
  table: 'jobs',
  jobId: 'job-1',
  action: 'requeued',
  reason: 'lease_expired',
  stage: 'burnin',
  attempt: 1,
  workerId: 'worker-9',
  retryInMs: 0,
}

const quietHealth = {
  overdue: 0,
  oldestOverdueMs: null,
  oldestDueMs: null,
  unjudged: 0,
  releasedOften: 3,
  reaperAgeMs: null,
  queues: [],
}

let events: RuntimeEventEmitter
let metrics: Metrics

async function create(readers: MetricReaders = {}): Promise<void> {
  metrics = await createMetrics({ events, table: 'jobs', ...readers })
}

/** The lines of the text that begin with a name, without it. */
async function lines(name: string): Promise<string[]> {
  const text = await metrics.text()
  const isOf = (line: string) => line.startsWith(name) && !/^\w/.test(line.slice(name.length))
  return text.split('\n').flatMap((line) => (isOf(line) ? [line.slice(name.length)] : []))
}

beforeEach(() => {
  events = new RuntimeEventEmitter()
})
afterEach(() => {
  metrics.stop()
  vi.useRealTimers()
})

it('SEE-2 counts jobs that were created, completed, failed by code and retried', async () => {
  await create()
  events.emit('jobs:enqueued', { table: 'jobs', type: 'asr', queue: 'asr', created: 3, duplicates: 2 })
  events.emit('job:ended', { job, end: 'completed', durationMs: 700 })
  events.emit('job:ended', { job, end: 'retried', durationMs: 10, code: 'GW_5XX', retryInMs: 5_000 })
  events.emit('job:ended', { job, end: 'dead', durationMs: 10, code: 'GW_4XX', retryInMs: null })
  expect(await lines('unstuck_jobs_created_total')).toEqual(['{table="jobs",type="asr"} 3'])
  expect(await lines('unstuck_jobs_completed_total')).toEqual(['{table="jobs",type="asr"} 1'])
  expect(await lines('unstuck_retries_scheduled_total')).toEqual(['{table="jobs",type="asr"} 1'])
  expect(await lines('unstuck_jobs_failed_total')).toEqual(['{table="jobs",code="GW_4XX"} 1'])
  expect(await lines('unstuck_job_duration_seconds_sum')).toContain(
    '{table="jobs",type="asr",end="completed"} 0.7',
  )
})

it('SEE-2 counts heartbeats and lost leases, and tells the lag of the loop and what runs here', async () => {
  await create()
  events.emit('job:started', { job })
  events.emit('job:started', { job })
  events.emit('job:ended', { job, end: 'lost', durationMs: 10 })
  events.emit('heartbeat:sent', { leases: 2 })
  events.emit('heartbeat:sent', { leases: 2 })
  events.emit('heartbeat:failed', { error: new Error('away'), failingForMs: 1 })
  events.emit('loop:lagged', { lagMs: 250 })
  expect(await lines('unstuck_leases_lost_total')).toEqual(['{table="jobs",type="asr"} 1'])
  expect(await lines('unstuck_heartbeats_total')).toEqual(['{table="jobs"} 2'])
  expect(await lines('unstuck_heartbeats_failed_total')).toEqual(['{table="jobs"} 1'])
  expect(await lines('unstuck_loop_lag_seconds')).toEqual(['{table="jobs"} 0.25'])
  expect(await lines('unstuck_jobs_running')).toEqual(['{table="jobs"} 1'])
})

it('SEE-2 the durations of outside calls are a histogram, from which the 95th percentile is read', async () => {
  await create()
  const call = { dependency: 'gateway', url: 'http://gw/x', status: 200, durationMs: 800, outcome: 'ok' }
  events.emit('gateway:called', { job, call })
  events.emit('gateway:called', { job, call: { ...call, dependency: null, outcome: 'timeout' } })
  const buckets = await lines('unstuck_gateway_call_duration_seconds_bucket')
  expect(buckets).toContain('{le="0.5",dependency="gateway",outcome="ok"} 0')
  expect(buckets).toContain('{le="1",dependency="gateway",outcome="ok"} 1')
  expect(buckets).toContain('{le="1",dependency="none",outcome="timeout"} 1')
})

it('REAP-10 the three of the reaper have the tags table and stage', async () => {
  await create()
  events.emit('job:reaped', reaped)
  events.emit('job:reaped', { ...reaped, action: 'dead', stage: null, retryInMs: null })
  events.emit('job:reaped', { ...reaped, action: 'reported' })
  events.emit('sweep:done', {
    table: 'jobs',
    requeued: 1,
    dead: 1,
    held: 0,
    holdReason: null,
    durationMs: 40,
  })
  expect(await lines('unstuck_reaper_requeues_total')).toEqual(['{table="jobs",stage="burnin"} 1'])
  expect(await lines('unstuck_reaper_failures_total')).toEqual(['{table="jobs",stage="none"} 1'])
  expect(await lines('unstuck_reaper_scan_duration_ms_sum')).toEqual(['{table="jobs",stage="all"} 40'])
  expect(await lines('unstuck_jobs_failed_total')).toEqual(['{table="jobs",code="timeout"} 1'])
})

it('SEE-2 the time a breaker was open counts while it is open', async () => {
  vi.useFakeTimers()
  await create()
  const change = (from: string, to: string) =>
    events.emit('breaker:changed', { name: 'gateway', from, to, reason: null })
  change('closed', 'open')
  vi.advanceTimersByTime(4_000)
  expect(await lines('unstuck_breaker_open_seconds_total')).toEqual(['{name="gateway"} 4'])
  expect(await lines('unstuck_breaker_state')).toContain('{name="gateway",state="open"} 1')
  change('open', 'half-open')
  vi.advanceTimersByTime(1_000)
  change('half-open', 'closed')
  vi.advanceTimersByTime(60_000)
  expect(await lines('unstuck_breaker_open_seconds_total')).toEqual(['{name="gateway"} 5'])
  expect(await lines('unstuck_breaker_state')).toEqual([
    '{name="gateway",state="closed"} 1',
    '{name="gateway",state="open"} 0',
    '{name="gateway",state="half-open"} 0',
    '{name="gateway",state="held"} 0',
  ])
})

it('SEE-2 a breaker that was open before this process began is seen by reading, and a deleted one closes', async () => {
  vi.useFakeTimers()
  let breakers = [{ name: 'gateway', state: 'open' }]
  await create({ readBreakers: async () => breakers })
  await metrics.text()
  vi.advanceTimersByTime(10_000)
  expect(await lines('unstuck_breaker_open_seconds_total')).toEqual(['{name="gateway"} 10'])
  breakers = []
  vi.advanceTimersByTime(10_000)
  expect(await lines('unstuck_breaker_state')).toContain('{name="gateway",state="closed"} 1')
})

it('SEE-2 knows every state a breaker can be in', () => {
  const states: Record<BreakerState, true> = { closed: true, open: true, 'half-open': true, held: true }
  expect(breakerStates).toEqual(Object.keys(states))
})

it('SEE-2 SEE-6 depths and ages come from the store when somebody asks', async () => {
  const store = createMemoryStore()
  await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }, { type: 'asr', delayMs: 60_000 }])
  await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 1, leaseMs: 30_000 })
  await store.pauseQueue('asr')
  store.elapse(50_000)
  await create({
    readHealth: () => store.readHealth(),
    readBreakers: () => store.listBreakers(),
  })
  expect(await lines('unstuck_queue_depth')).toEqual([
    '{table="jobs",queue="asr",state="waiting"} 2',
    '{table="jobs",queue="asr",state="due"} 1',
    '{table="jobs",queue="asr",state="running"} 1',
  ])
  expect(await lines('unstuck_queue_paused')).toEqual(['{table="jobs",queue="asr"} 1'])
  expect(await lines('unstuck_overdue_jobs')).toEqual(['{table="jobs"} 1'])
  const seconds = async (name: string) => Number((await lines(name))[0]?.split(' ')[1])
  expect(await seconds('unstuck_oldest_waiting_seconds')).toBeCloseTo(50, 0)
  expect(await seconds('unstuck_oldest_overdue_seconds')).toBeCloseTo(20, 0)
})

it('SEE-2 any number of scrapes within 5 s reads the store once', async () => {
  vi.useFakeTimers()
  let reads = 0
  await create({ readHealth: async () => ({ ...quietHealth, overdue: ++reads }) })
  await Promise.all([metrics.text(), metrics.text()])
  vi.advanceTimersByTime(4_999)
  expect(await lines('unstuck_overdue_jobs')).toEqual(['{table="jobs"} 1'])
  vi.advanceTimersByTime(1)
  expect(await lines('unstuck_overdue_jobs')).toEqual(['{table="jobs"} 2'])
})

it('SEE-2 a store that fails takes its own metrics away, and no others', async () => {
  vi.useFakeTimers()
  let isAway = false
  await create({
    readHealth: async () => {
      if (isAway) throw new Error('the database is away')
      return quietHealth
    },
  })
  events.emit('heartbeat:sent', { leases: 1 })
  expect(await lines('unstuck_overdue_jobs')).toEqual(['{table="jobs"} 0'])
  isAway = true
  vi.advanceTimersByTime(5_000)
  expect(await lines('unstuck_overdue_jobs')).toEqual([])
  expect(await lines('unstuck_heartbeats_total')).toEqual(['{table="jobs"} 1'])
  expect(await lines('unstuck_metrics_reads_failed_total')).toEqual(['{read="readHealth"} 1'])
})

it('SEE-2 a store that does not answer does not hold up a scrape', async () => {
  vi.useFakeTimers()
  await create({ readHealth: () => new Promise(() => {}) })
  const text = metrics.text()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await text).toContain('unstuck_jobs_running{table="jobs"} 0')
})

it('SEE-2 no label holds a job, an owner or a worker', async () => {
  await create()
  events.emit('job:started', { job })
  events.emit('job:ended', { job, end: 'completed', durationMs: 1 })
  events.emit('job:reaped', reaped)
  events.emit('limit:reached', { key: 'gateway:eu', released: 2, waitMs: 100 })
  expect(await lines('unstuck_limit_releases_total')).toEqual(['{key="gateway:eu"} 2'])
  expect(await metrics.text()).not.toMatch(/job-1|owner-7|worker-9|lease-1/)
})

it('SEE-2 after a hundred values of a label the rest is counted as other', async () => {
  const queues = Array.from({ length: 103 }, (_, n) => ({
    queue: `tenant-${n}`,
    waiting: 1,
    due: 1,
    running: 0,
    isPaused: false,
  }))
  await create({ readHealth: async () => ({ ...quietHealth, queues }) })
  for (let n = 0; n < 103; n++) events.emit('job:ended', { job, end: 'dead', durationMs: 1, code: `E${n}` })
  const failed = await lines('unstuck_jobs_failed_total')
  expect(failed).toHaveLength(101)
  expect(failed).toContain('{table="jobs",code="other"} 3')
  expect(await lines('unstuck_queue_depth')).toContain('{table="jobs",queue="other",state="waiting"} 3')
})

it('SEE-2 has a registry of its own, and hears nothing after its stop', async () => {
  await create()
  const { register } = await import('prom-client')
  expect(register.getMetricsAsArray()).toEqual([])
  expect(metrics.contentType).toMatch(/^text\/plain/)
  metrics.stop()
  events.emit('heartbeat:sent', { leases: 1 })
  events.emit('job:started', { job })
  expect(await lines('unstuck_heartbeats_total')).toEqual([])
  expect(await lines('unstuck_jobs_running')).toEqual(['{table="jobs"} 0'])
})

it('SEE-6 rescues of the last day come from the store: how many in time, how long, and what was promised', async () => {
  const store = createMemoryStore({
    policy: { defaultLeaseMs: 30_000, reapBackoffStepsMs: [0], requeueRatePerS: 0 },
  })
  const claim = () => store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 1 })
  await store.enqueueJobs([{ type: 'asr' }])
  await claim()
  await create({ readSlo: () => store.readSlo() })
  expect(await lines('unstuck_rescues')).toEqual([
    '{table="jobs",in_time="true"} 0',
    '{table="jobs",in_time="false"} 0',
  ])
  expect(await lines('unstuck_rescue_seconds')).toEqual([])
  metrics.stop()
  store.elapse(40_000)
  await store.sweepJobs()
  await claim()
  await create({ readSlo: () => store.readSlo() })
  expect(await lines('unstuck_rescues')).toEqual([
    '{table="jobs",in_time="true"} 1',
    '{table="jobs",in_time="false"} 0',
  ])
  expect((await lines('unstuck_rescues_by_cause')).toSorted()).toEqual([
    '{table="jobs",cause="crash"} 1',
    '{table="jobs",cause="timeout"} 0',
    '{table="jobs",cause="worker-gone"} 0',
  ])
  const seconds = (await lines('unstuck_rescue_seconds')).map((line) => line.replace(/(} \d+)\..*$/, '$1'))
  expect(seconds).toEqual([
    '{table="jobs",quantile="0.5"} 40',
    '{table="jobs",quantile="0.95"} 40',
    '{table="jobs",quantile="1"} 40',
  ])
  expect(await lines('unstuck_rescue_promise_seconds')).toEqual(['{table="jobs"} 42'])
})
