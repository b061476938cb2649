// With the real SDK and a store in between, as an application would have them.
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { UnstuckError } from '../errors/index.ts'
import type { NewJob } from '../job/job.ts'
import type { ClaimedJob } from '../job/lease.ts'
import { createMemoryStore, type MemoryJobStore } from '../store/memory/index.ts'
import { openTracing, type Tracing } from './tracing.ts'

const foreign = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

let exporter: InMemorySpanExporter
let store: MemoryJobStore
let tracing: Tracing

beforeEach(async () => {
  exporter = new InMemorySpanExporter()
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
  store = createMemoryStore()
  const opened = await openTracing()
  if (opened === null) throw new Error('@opentelemetry/api is not installed')
  tracing = opened
})
afterEach(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

const enqueue = (...jobs: NewJob[]) => tracing.enqueue(jobs, 'jobs', (marked) => store.enqueueJobs(marked))

async function claim(): Promise<ClaimedJob> {
  const [job] = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 1 })
  if (job === undefined) throw new Error('nothing was claimed')
  return job
}

const run = (job: ClaimedJob, end: string, code?: string) =>
  tracing.process(
    job,
    'worker-1',
    async () => end,
    () => ({ end, ...(code === undefined ? {} : { code }) }),
  )

function span(name: string) {
  const found = exporter.getFinishedSpans().find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no span ${name}`)
  return found
}

it('SEE-4 enqueue, claim, handler and finish are one trace, and the attempt has a link to the send', async () => {
  const tracer = trace.getTracer('application')
  await tracer.startActiveSpan('request', async (request) => {
    await enqueue({ type: 'asr', payload: { card: '4111 1111' } })
    request.end()
  })
  const job = await claim()
  await tracing.process(
    job,
    'worker-1',
    async () => {
      await Promise.resolve()
      tracer.startSpan('the work of the handler').end()
      return 'completed'
    },
    (end) => ({ end }),
  )
  const [request, send, process, work] = [
    span('request'),
    span('send asr'),
    span('process asr'),
    span('the work of the handler'),
  ]
  expect(send.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(process.parentSpanContext).toMatchObject({ spanId: send.spanContext().spanId, isRemote: true })
  expect(process.links).toMatchObject([{ context: { spanId: send.spanContext().spanId } }])
  expect(work.parentSpanContext?.spanId).toBe(process.spanContext().spanId)
  const traces = exporter.getFinishedSpans().map((each) => each.spanContext().traceId)
  expect(new Set(traces).size).toBe(1)
  expect(process.events.map(({ name }) => name)).toEqual(['claim', 'settle'])
})

it('SEE-4 spans have the attributes of the conventions for messaging, and no payload', async () => {
  await enqueue({ type: 'asr', payload: { card: '4111 1111' } }, { type: 'asr' })
  const job = await claim()
  await run(job, 'completed')
  expect(span('send asr')).toMatchObject({
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system.name': 'unstuck',
      'messaging.destination.name': 'asr',
      'messaging.operation.type': 'send',
      'messaging.batch.message_count': 2,
      'unstuck.table': 'jobs',
    },
  })
  expect(span('process asr')).toMatchObject({
    kind: SpanKind.CONSUMER,
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      'messaging.system.name': 'unstuck',
      'messaging.destination.name': 'asr',
      'messaging.operation.type': 'process',
      'messaging.message.id': job.jobId,
      'messaging.client.id': 'worker-1',
      'unstuck.job.attempt': 1,
      'unstuck.job.end': 'completed',
    },
  })
  const said = exporter.getFinishedSpans().map(({ attributes, events }) => ({ attributes, events }))
  expect(JSON.stringify(said)).not.toContain('4111 1111')
})

it('SEE-4 a job that brings a traceparent keeps it, and its attempts continue that trace', async () => {
  await enqueue({ type: 'asr', traceparent: foreign })
  const job = await claim()
  expect(job.traceparent).toBe(foreign)
  await run(job, 'completed')
  expect(span('process asr').spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c')
})

it('SEE-4 each attempt of a job is a span of the same trace', async () => {
  await enqueue({ type: 'asr' })
  const job = await claim()
  await run(job, 'retried', 'GW_5XX')
  await run({ ...job, attempt: 2 }, 'completed')
  const attempts = exporter.getFinishedSpans().filter(({ name }) => name === 'process asr')
  expect(attempts.map(({ attributes }) => attributes['unstuck.job.attempt'])).toEqual([1, 2])
  expect(new Set(attempts.map((each) => each.spanContext().traceId)).size).toBe(1)
})

it.each(['retried', 'dead', 'lost'])('SEE-4 an attempt that %s is an error with its code', async (end) => {
  await enqueue({ type: 'asr' })
  await run(await claim(), end, 'GW_5XX')
  expect(span('process asr')).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: 'GW_5XX' },
    attributes: { 'error.type': 'GW_5XX' },
  })
})

it('SEE-4 an enqueue that throws is an error with its code alone, and throws on', async () => {
  const refused = new UnstuckError('DATABASE_UNREACHABLE', 'postgres://me:secret@db is away')
  const send = () => Promise.reject(refused)
  await expect(tracing.enqueue([{ type: 'asr' }], 'jobs', send)).rejects.toBe(refused)
  const { status, attributes, events } = span('send asr')
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'DATABASE_UNREACHABLE' })
  expect(JSON.stringify([attributes, events])).not.toContain('secret')
})

it('SEE-4 jobs without a trace, and with a broken one, are processed in a trace of their own', async () => {
  await store.enqueueJobs([{ type: 'asr' }])
  const job = await claim()
  await run(job, 'completed')
  await run({ ...job, traceparent: 'nonsense' }, 'completed')
  for (const each of exporter.getFinishedSpans()) {
    expect(each.parentSpanContext).toBeUndefined()
    expect(each.links).toEqual([])
  }
  expect(exporter.getFinishedSpans()).toHaveLength(2)
})

it('SEE-4 without an SDK nothing is stored and everything runs', async () => {
  trace.disable()
  context.disable()
  propagation.disable()
  await enqueue({ type: 'asr' })
  const job = await claim()
  expect(job.traceparent).toBeNull()
  expect(await run(job, 'completed')).toBe('completed')
})

it('FAIL-7 SEE-4 the span of a failed attempt has the exception, with secrets masked and without its stack', async () => {
  await enqueue({ type: 'asr' })
  const error = new RangeError('token=hush refused')
  const failure = { error, message: error.message, stack: 'RangeError: token=hush\n    at a.ts:1' }
  const describe = () => ({ end: 'retried', code: 'UNKNOWN', failure })
  await tracing.process(await claim(), 'worker-1', async () => 'retried', describe)
  const [exception] = span('process asr').events.filter(({ name }) => name === 'exception')
  expect(exception?.attributes).toEqual({
    'exception.type': 'RangeError',
    'exception.message': 'token=[redacted] refused',
  })
  exporter.reset()
  const withStacks = await openTracing({ withStacks: true })
  await enqueue({ type: 'asr' })
  await withStacks?.process(await claim(), 'worker-1', async () => 'retried', describe)
  const [full] = span('process asr').events.filter(({ name }) => name === 'exception')
  expect(full?.attributes?.['exception.stacktrace']).toBe('RangeError: token=[redacted]\n    at a.ts:1')
})
