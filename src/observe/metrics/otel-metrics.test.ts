// With the real SDK, and next to Prometheus: both must show the same.
import { metrics as otelMetrics } from '@opentelemetry/api'
import { DataPointType, MeterProvider, type MetricData, MetricReader } from '@opentelemetry/sdk-metrics'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { type AttemptEnd, RuntimeEventEmitter } from '../events.ts'
import { instruments } from './instruments.ts'
import { createMetrics } from './metrics.ts'
import { openOtelMetrics } from './otel-metrics.ts'

const job = { jobId: 'job-1', type: 'asr', queue: 'asr', stage: 'asr', attempt: 1 } as unknown as ClaimedJob

class PulledReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

let reader: PulledReader
let events: RuntimeEventEmitter

beforeEach(() => {
  reader = new PulledReader()
  events = new RuntimeEventEmitter()
  otelMetrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
})
afterEach(async () => {
  vi.useRealTimers()
  otelMetrics.disable()
  await reader.shutdown()
})

async function collect(): Promise<MetricData[]> {
  const { resourceMetrics, errors } = await reader.collect()
  expect(errors).toEqual([])
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
}

/** Every value as `labels value`, of a histogram its count and sum. */
async function otelFacts(): Promise<Record<string, string[]>> {
  const facts = (await collect()).map(({ descriptor, dataPointType, dataPoints }) => {
    const values = dataPoints.map(({ attributes, value }) => {
      if (dataPointType !== DataPointType.HISTOGRAM) return show(attributes, value as number)
      const { count, sum } = value as { count: number; sum: number }
      return show(attributes, count, sum)
    })
    return [descriptor.name, values.toSorted()] as const
  })
  return Object.fromEntries(facts.filter(([, values]) => values.length > 0))
}

function show(labels: object, ...values: number[]): string {
  return [...Object.values(labels), ...values.map((value) => Math.round(value * 10) / 10)].join(' ')
}

function emitOneOfEach(): void {
  const ends: AttemptEnd[] = ['completed', 'retried', 'dead', 'lost', 'released']
  const reaped = { table: 'jobs', jobId: 'job-1', reason: 'lease_expired', stage: 'asr', attempt: 1 } as const
  events.emit('jobs:enqueued', { table: 'jobs', type: 'asr', queue: 'asr', created: 3, duplicates: 0 })
  events.emit('job:started', { job })
  for (const end of ends) events.emit('job:ended', { job, end, durationMs: 1_500, code: 'GW_5XX' })
  events.emit('job:hung', { job, leaked: 1, leakBudget: 2 })
  for (const action of ['requeued', 'requeued', 'dead'] as const)
    events.emit('job:reaped', { ...reaped, action, workerId: null, retryInMs: null })
  events.emit('sweep:done', {
    table: 'jobs',
    requeued: 2,
    dead: 1,
    held: 0,
    holdReason: null,
    durationMs: 12,
  })
  events.emit('sweep:failed', { table: 'jobs', error: new Error('away') })
  events.emit('prune:done', { table: 'jobs', deleted: 4, durationMs: 1 })
  events.emit('dispatch:done', { table: 'jobs', published: 2 })
  const delivery = { table: 'jobs', webhookId: 'hook-1', deliveryId: 'delivery-1', tries: 1 }
  events.emit('delivery:done', { ...delivery, durationMs: 1 })
  events.emit('delivery:failed', { ...delivery, outcome: 'retried', error: 'answered 500' })
  const call = {
    dependency: 'gateway',
    url: 'http://gw/x',
    status: 503,
    durationMs: 300,
    outcome: 'server-error',
  }
  events.emit('gateway:called', { job, call })
  events.emit('limit:reached', { key: 'gateway', released: 2, waitMs: 10 })
  events.emit('breaker:changed', { name: 'gateway', from: 'closed', to: 'open', reason: null })
  events.emit('heartbeat:sent', { leases: 2 })
  events.emit('heartbeat:failed', { error: new Error('away'), failingForMs: 1 })
  events.emit('claim:failed', { error: new Error('away') })
  events.emit('loop:lagged', { lagMs: 200 })
}

it('SEE-2 OpenTelemetry and Prometheus show the same facts, and each instrument has some', async () => {
  const readers = {
    readHealth: async () => ({
      overdue: 1,
      oldestOverdueMs: 2_000,
      oldestDueMs: 3_000,
      unjudged: 1,
      releasedOften: 2,
      reaperAgeMs: 4_000,
      queues: [{ queue: 'asr', waiting: 3, due: 2, running: 1, isPaused: true }],
    }),
    readSlo: async () => ({
      rescued: 3,
      inTime: 2,
      p50Ms: 1_000,
      p95Ms: 2_000,
      worstMs: 3_000,
      promiseMs: 4_000,
      byCause: { crash: 1, timeout: 0, 'worker-gone': 2 },
    }),
    readBreakers: () => Promise.reject(new Error('away')),
  }
  // Both read durations that grow with time.
  vi.useFakeTimers({ toFake: ['performance'] })
  const prometheus = await createMetrics({ events, table: 'jobs', ...readers })
  const otel = await openOtelMetrics({ events, table: 'jobs', ...readers })
  emitOneOfEach()
  // A failed read is counted with the next collection.
  await collect()

  await prometheus.text()
  const shown = await otelFacts()
  const metrics = await prometheus.registry.getMetricsAsJSON()
  const expected = Object.values(instruments).map(({ prometheus: name, otel: dotted, kind }) => {
    const values = metrics.find((metric) => metric.name === name)?.values ?? []
    if (kind !== 'histogram')
      return [dotted, values.map(({ labels, value }) => show(labels, value)).toSorted()]
    const named = (suffix: string) =>
      values.filter((value) => 'metricName' in value && value.metricName === `${name}_${suffix}`)
    const sums = named('sum').map(({ value }) => value)
    return [
      dotted,
      named('count')
        .map(({ labels, value }, n) => show(labels, value, sums[n] ?? 0))
        .toSorted(),
    ]
  })
  expect(shown).toEqual(Object.fromEntries(expected))
  otel?.stop()
  prometheus.stop()
})

it('REAP-10 the reaper has the dotted names of the documents, with table and stage', async () => {
  const otel = await openOtelMetrics({ events, table: 'jobs' })
  emitOneOfEach()
  expect(await otelFacts()).toMatchObject({
    'reaper.requeues': ['jobs asr 2'],
    'reaper.failures': ['jobs asr 1'],
    'reaper.scan_duration_ms': ['jobs all 1 12'],
  })
  otel?.stop()
})

it('SEE-2 histograms have the buckets of the table, and a stopped one observes nothing more', async () => {
  const otel = await openOtelMetrics({ events, table: 'jobs' })
  emitOneOfEach()
  const duration = (await collect()).find(({ descriptor }) => descriptor.name === 'unstuck.job.duration')
  const value = duration?.dataPoints[0]?.value as { buckets: { boundaries: number[] } }
  expect(value.buckets.boundaries).toEqual(instruments.jobDuration.buckets)
  otel?.stop()
  emitOneOfEach()
  expect(await otelFacts()).toMatchObject({ 'reaper.requeues': ['jobs asr 2'] })
})

it('SEE-2 queues past the first hundred are one sum', async () => {
  const queue = (n: number) => ({ queue: `tenant-${n}`, waiting: 1, due: 0, running: 0, isPaused: false })
  const queues = Array.from({ length: 103 }, (_, n) => queue(n))
  const readHealth = async () => ({ ...(await createMemoryStore().readHealth()), queues })
  const otel = await openOtelMetrics({ events, table: 'jobs', readHealth })
  expect((await otelFacts())['unstuck.queue.depth']).toContain('jobs other waiting 3')
  otel?.stop()
})
