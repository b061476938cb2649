import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import { type EventName, RuntimeEventEmitter, type RuntimeEvents } from '../events.ts'
import { type Logger, logEvents } from './log-events.ts'

const job = {
  jobId: 'job-1',
  leaseId: 'lease-1',
  type: 'asr',
  queue: 'asr',
  stage: 'asr',
  attempt: 2,
  fence: 3,
  payload: { card: '4111 1111' },
  isRescue: false,
} as unknown as ClaimedJob

function record(): {
  events: RuntimeEventEmitter
  lines: { level: string; fields: Record<string, unknown> }[]
} {
  const lines: { level: string; fields: Record<string, unknown> }[] = []
  const write = (level: string) => (fields: object) => lines.push({ level, fields: { ...fields } })
  const logger: Logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const events = new RuntimeEventEmitter()
  logEvents(events, logger)
  return { events, lines }
}

/** Emits one event and answers its lines. */
function linesOf<Name extends EventName>(name: Name, fields: RuntimeEvents[Name]) {
  const { events, lines } = record()
  events.emit(name, fields)
  return lines
}

const away = new Error('connect ECONNREFUSED postgres://me:s3cret@db:5432/app\n    at stack.ts:1')
const url = 'http://gw/convert'
const call = { dependency: 'gateway', url, status: 503, durationMs: 42.4, outcome: 'server-error' }
const reaped: RuntimeEvents['job:reaped'] = {
  table: 'jobs',
  jobId: 'job-1',
  action: 'requeued',
  reason: 'lease_expired',
  stage: 'asr',
  attempt: 2,
  workerId: 'worker-1',
  retryInMs: 30_000,
}

/** One of each that has something to tell. */
const examples: { [Name in EventName]: RuntimeEvents[Name] } = {
  'worker:started': { workerId: 'worker-1', types: ['asr'], concurrency: 4 },
  'worker:draining': { workerId: 'worker-1', reason: 'SIGTERM', running: 1 },
  'worker:stopped': { workerId: 'worker-1', exitCode: 0 },
  'worker:unreported': { workerId: 'worker-1', error: away },
  'jobs:enqueued': { table: 'jobs', type: 'asr', queue: 'asr', created: 2, duplicates: 1 },
  'job:started': { job },
  'job:ended': { job, end: 'completed', durationMs: 1 },
  'job:failed': {
    job,
    end: 'retried',
    durationMs: 1,
    error: away,
    failure: { error: away, message: 'away' },
  },
  'job:aborted': { job, reason: 'deadline' },
  'job:at-risk': { job },
  'job:hung': { job, leaked: 1, leakBudget: 2 },
  'claim:failed': { error: away },
  'limit:reached': { key: 'gateway', released: 3, waitMs: 200 },
  'gateway:called': { job, call },
  'breaker:changed': { name: 'gateway', from: 'closed', to: 'open', reason: 'calls-failed' },
  'breaker:failed': { name: 'gateway', error: away },
  'heartbeat:sent': { leases: 1 },
  'heartbeat:failed': { error: away, failingForMs: 1.5 },
  'heartbeat:recovered': { failedForMs: 1.5 },
  'shard:silent': { shard: 'shard 1', error: new Error('down') },
  'shard:answered': { shard: 'shard 1' },
  'loop:lagged': { lagMs: 1_000 },
  'presence:off': { workerId: 'worker-1', reason: 'a connection pooler is in between' },
  'job:reaped': reaped,
  'sweep:done': { table: 'jobs', requeued: 1, dead: 0, held: 0, holdReason: null, durationMs: 1 },
  'sweep:failed': { table: 'jobs', error: away },
  'prune:done': { table: 'jobs', deleted: 1, durationMs: 1 },
  'prune:failed': { table: 'jobs', error: away },
  'trends:failed': { table: 'jobs', error: away },
  'dispatch:done': { table: 'jobs', published: 1 },
  'dispatch:failed': { table: 'jobs', error: away, waiting: 1 },
  'delivery:done': { table: 'jobs', webhookId: 'hook-1', deliveryId: 'delivery-1', tries: 1, durationMs: 1 },
  'delivery:failed': {
    table: 'jobs',
    webhookId: 'hook-1',
    deliveryId: 'delivery-1',
    tries: 1,
    outcome: 'retried',
    error: away,
  },
  'schedule:enqueued': { name: 'nightly', jobId: 'job-1', dueAt: new Date(0) },
  'schedule:failed': { name: 'nightly', error: away },
  'type:unhandled': { table: 'jobs', type: 'asr', queue: 'asr', waiting: 1, reason: 'no worker is live' },
  'jobs:not-understood': { table: 'EmbeddingJob', jobId: 'job-1', reason: 'its payload is no JSON' },
  'listen:started': { channel: 'unstuck' },
  'listen:failed': { reason: 'no notification arrived' },
  'service:standing-by': { service: 'claims', error: away },
  'config:warned': { warning: 'two heartbeats per lease' },
}

describe('every event', () => {
  // One comes with every heartbeat and tells nothing that a metric does not; the line of the other is that of `job:ended`.
  const silent = ['heartbeat:sent', 'job:failed']

  it.each(Object.keys(examples) as EventName[])(
    'SEE-1 %s is one line with its name, or none on purpose',
    (name) => {
      const lines = linesOf(name, examples[name])
      expect(lines).toHaveLength(silent.includes(name) ? 0 : 1)
      const expected = name === 'job:reaped' ? 'reaper:requeued' : name
      for (const { fields } of lines) expect(fields['event']).toBe(expected)
    },
  )

  it('SEE-1 has an example here', () => {
    const source = readFileSync(new URL('../events.ts', import.meta.url), 'utf8')
    const declared = [...source.matchAll(/^ {2}'([a-z]+:[a-z-]+)': /gm)].map(([, name = '']) => name)
    expect(Object.keys(examples).toSorted()).toEqual(declared.toSorted())
  })

  it('SEE-1 has names of fields in one style, and no payload, stack or password in any', () => {
    const { events, lines } = record()
    for (const name of Object.keys(examples) as EventName[]) events.emit(name, examples[name])
    expect(
      lines.flatMap(({ fields }) => Object.keys(fields)).filter((key) => !/^[a-z_]+$/.test(key)),
    ).toEqual([])
    expect(JSON.stringify(lines)).not.toMatch(/4111|s3cret|stack\.ts/)
    expect(JSON.stringify(lines)).toContain('postgres://***@db:5432/app')
  })
})

it('SEE-1 the end of a job is one line with all fields', () => {
  const ended = { job, durationMs: 42, gatewayStatus: 503, code: 'GW_5XX', breaker: 'open', retryInMs: null }
  expect(linesOf('job:ended', { ...ended, end: 'dead' })).toMatchObject([
    {
      level: 'error',
      fields: {
        event: 'job:ended',
        job_id: 'job-1',
        status: 'dead',
        attempt: 2,
        duration_ms: 42,
        gateway_status: 503,
        error_code: 'GW_5XX',
        breaker: 'open',
      },
    },
  ])
})

describe('the error of a failed job', () => {
  const error = new TypeError('card 4111 1111 1111 1111 declined')
  const stack = `TypeError: token=hush\n    at stack.ts:1`
  const ended: RuntimeEvents['job:ended'] = {
    job,
    end: 'retried',
    durationMs: 1,
    code: 'UNKNOWN',
    error,
    failure: { error, message: error.message, stack },
  }

  it('FAIL-7 SEE-1 is the field err of its line: the message, with secrets masked', () => {
    const [line] = linesOf('job:ended', ended)
    expect(line?.fields['err']).toEqual({ type: 'TypeError', message: 'card [redacted] declined' })
  })

  it('FAIL-7 has its stack if asked for', () => {
    const lines: { err?: unknown }[] = []
    const write = (fields: object) => void lines.push(fields)
    const events = new RuntimeEventEmitter()
    logEvents(events, { info: write, warn: write, error: write }, { withStacks: true })
    events.emit('job:ended', ended)
    expect(lines[0]?.err).toMatchObject({ stack: 'TypeError: token=[redacted]\n    at stack.ts:1' })
  })

  it('FAIL-7 may be anything that can be thrown', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const thrown of ['text', null, undefined, Symbol('x'), proxy, { name: 7 }]) {
      const [line] = linesOf('job:ended', { ...ended, failure: { error: thrown, message: 'said' } })
      expect(line?.fields['err']).toEqual({ type: 'Error', message: 'said' })
    }
  })
})

it('SEE-1 fields that are not known are null', () => {
  expect(linesOf('job:ended', { job, end: 'completed', durationMs: 1 })).toMatchObject([
    { level: 'info', fields: { status: 'succeeded', gateway_status: null, error_code: null, breaker: null } },
  ])
})

it('SEE-1 an outside call is a line only where it failed', () => {
  expect(linesOf('gateway:called', { job, call })).toMatchObject([
    {
      level: 'warn',
      fields: { job_id: 'job-1', gateway_status: 503, duration_ms: 42, outcome: 'server-error' },
    },
  ])
  expect(linesOf('gateway:called', { job, call: { ...call, outcome: 'ok', status: 200 } })).toEqual([])
  expect(linesOf('gateway:called', { job, call: { ...call, outcome: 'aborted', status: null } })).toEqual([])
})

it.each([
  ['open', 'warn'],
  ['held', 'warn'],
  ['half-open', 'info'],
  ['closed', 'info'],
])('SEE-1 BREAK-2 a breaker that becomes %s is a line of the level %s', (to, level) => {
  const change = { name: 'gateway', from: 'closed', to, reason: 'calls-failed' }
  expect(linesOf('breaker:changed', change)).toMatchObject([
    { level, fields: { dependency: 'gateway', breaker: to, reason: 'calls-failed' } },
  ])
})

it.each([
  ['requeued', 'warn', 'reaper:requeued', 'waiting', null],
  ['dead', 'error', 'reaper:failed(timeout)', 'dead', 'timeout'],
  ['cancelled', 'info', 'reaper:cancelled', 'cancelled', null],
  ['reported', 'warn', 'reaper:reported', 'running', null],
] as const)('REAP-10 a job that a sweep %s is one line', (action, level, event, status, code) => {
  expect(linesOf('job:reaped', { ...reaped, action })).toEqual([
    {
      level,
      fields: {
        event,
        table: 'jobs',
        job_id: 'job-1',
        status,
        stage: 'asr',
        attempt: 2,
        reason: 'lease_expired',
        error_code: code,
        worker_id: 'worker-1',
        retry_in_ms: 30_000,
      },
    },
  ])
})

it('REAP-10 a job that every sweep reports is one line', () => {
  const { events, lines } = record()
  for (let sweep = 0; sweep < 3; sweep++) events.emit('job:reaped', { ...reaped, action: 'reported' })
  events.emit('job:reaped', { ...reaped, action: 'reported', jobId: 'job-2' })
  expect(lines.map(({ fields }) => fields['job_id'])).toEqual(['job-1', 'job-2'])
})

it('SEE-1 heartbeats that fail again and again are a line at first, one a minute, and one when they work again', () => {
  const { events, lines } = record()
  const outage = (ms: number) => {
    for (let failingForMs = 0; failingForMs <= ms; failingForMs += 500)
      events.emit('heartbeat:failed', { error: away, failingForMs })
    events.emit('heartbeat:recovered', { failedForMs: ms })
  }
  outage(37_000)
  outage(120_500)
  expect(lines.map(({ level, fields }) => [level, fields['event'], fields['failures']])).toEqual([
    ['error', 'heartbeat:failed', 1],
    ['info', 'heartbeat:recovered', 75],
    ['error', 'heartbeat:failed', 1],
    ['error', 'heartbeat:failed', 121],
    ['error', 'heartbeat:failed', 241],
    ['info', 'heartbeat:recovered', 242],
  ])
})

const emptySweep = { table: 'jobs', requeued: 0, dead: 0, held: 0, durationMs: 1 }

it('REAP-16 a sweep that met a locked table says so', () => {
  const [line] = linesOf('sweep:done', { ...emptySweep, holdReason: 'table-locked' })
  expect(line).toMatchObject({ level: 'warn', fields: { held: 0, hold_reason: 'table-locked' } })
})

it('SEE-1 what found nothing to do is silent', () => {
  expect(linesOf('sweep:done', { ...emptySweep, holdReason: null })).toEqual([])
  expect(linesOf('prune:done', { table: 'jobs', deleted: 0, durationMs: 1 })).toEqual([])
  expect(linesOf('dispatch:done', { table: 'jobs', published: 0 })).toEqual([])
  expect(linesOf('loop:lagged', { lagMs: 999 })).toEqual([])
})

it('a listener that throws breaks neither the emitter nor the other listeners', () => {
  const events = new RuntimeEventEmitter()
  const heard: string[] = []
  events.on('job:started', () => {
    throw new Error('a bug of the application')
  })
  const off = events.on('job:started', () => heard.push('second'))
  events.emit('job:started', { job })
  off()
  events.emit('job:started', { job })
  expect(heard).toEqual(['second'])
})
