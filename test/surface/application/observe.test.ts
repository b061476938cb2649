// An application on a real database, seen from outside: its trace, its metrics, its log.
import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Logger, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
const exporter = new InMemorySpanExporter()

beforeAll(async () => {
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
  database = await createInstalledDatabase()
})
afterAll(async () => {
  trace.disable()
  context.disable()
  propagation.disable()
  await database.drop()
})

it('SEE-1 SEE-2 SEE-4 a job is one trace, counted, and logged with its fields', async () => {
  const lines: Record<string, unknown>[] = []
  const write = (fields: object) => void lines.push({ ...fields })
  const logger: Logger = { info: write, warn: write, error: write }
  const app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], logger })
  const tracer = trace.getTracer('application')
  app.handle('asr', async () => {
    await Promise.resolve()
    tracer.startSpan('the work of the handler').end()
  })
  const metrics = await app.metrics()
  const ended = new Promise((resolve) => app.on('job:ended', resolve))

  const { jobId } = await tracer.startActiveSpan('request', async (request) => {
    const enqueued = await app.enqueue({ type: 'asr' })
    request.end()
    return enqueued
  })
  await app.start()
  await ended

  const counted = await metrics.text()
  expect(counted).toContain('unstuck_jobs_created_total{table="jobs",type="asr"} 1')
  expect(counted).toContain('unstuck_jobs_completed_total{table="jobs",type="asr"} 1')
  expect(counted).toContain('unstuck_overdue_jobs{table="jobs"} 0')
  expect(counted).toContain('unstuck_reaper_scan_duration_ms_count{table="jobs",stage="all"} 1')
  await app.stop()
  const spans = exporter.getFinishedSpans()
  expect(spans.map(({ name }) => name)).toEqual([
    'send asr',
    'request',
    'the work of the handler',
    'process asr',
  ])
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1)
  expect(lines.find(({ event }) => event === 'job:ended')).toMatchObject({
    job_id: jobId,
    status: 'succeeded',
    attempt: 1,
    duration_ms: expect.any(Number),
    gateway_status: null,
    error_code: null,
    breaker: null,
  })
})
