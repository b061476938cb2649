// One trace from the call that enqueued a job to the end of each of its attempts (SEE-4). The context of the send travels in
// the job's `traceparent`; the span of an attempt continues that trace and links to the send, as the messaging conventions
// require. Needs a propagator for W3C trace context, which every SDK has by default.
import type { Attributes, Context, Span, SpanOptions } from '@opentelemetry/api'
import { isUnstuckError } from '../errors/index.ts'
import type { NewJob } from '../job/job.ts'
import type { ClaimedJob } from '../job/lease.ts'
import { describeFailure } from './describe-failure.ts'
import type { AttemptFailure } from './events.ts'
import { loadOtel, type OtelApi } from './load-otel.ts'

export interface Tracing {
  /** False if spans would go nowhere. */
  isActive(): boolean
  /** Adds the caller's trace to the jobs; a job with a `traceparent` keeps it. */
  enqueue<T>(jobs: NewJob[], table: string, send: (jobs: NewJob[]) => Promise<T>): Promise<T>
  /** Runs with the span of the attempt active, so that the handler's spans become part of the trace. */
  process<T>(
    job: ClaimedJob,
    workerId: string,
    run: () => Promise<T>,
    describeEnd: (value: T) => TracedEnd,
  ): Promise<T>
}

/** The end of an attempt, as its span records it. */
export interface TracedEnd {
  end: string
  code?: string
  failure?: AttemptFailure
}

export interface TracingOptions {
  /** Records stacks beside messages. Default: false. */
  withStacks?: boolean
}

/** Null if @opentelemetry/api is not installed. */
export async function openTracing(options: TracingOptions = {}): Promise<Tracing | null> {
  const otel = await loadOtel()
  return otel === null ? null : new OtelTracing(otel, options)
}

// Copied: the messaging conventions are experimental, and their package changes with every version.
const SYSTEM = { 'messaging.system.name': 'unstuck' }
const FAILED_ENDS = ['retried', 'dead', 'lost', 'unknown']

/** How long a missing provider is cached. */
const INACTIVE_MS = 1_000

class OtelTracing implements Tracing {
  readonly #otel: OtelApi
  readonly #withStacks: boolean
  #isActive = false
  #askAgainAtMs = 0

  constructor(otel: OtelApi, { withStacks = false }: TracingOptions) {
    this.#otel = otel
    this.#withStacks = withStacks
  }

  enqueue<T>(jobs: NewJob[], table: string, send: (jobs: NewJob[]) => Promise<T>): Promise<T> {
    if (!this.isActive()) return send(jobs)
    const { context, propagation, SpanKind } = this.#otel
    const parent = context.active()
    const attributes = sendAttributes(jobs, table)
    const span = this.#start(
      `send ${destinationOf(jobs) ?? table}`,
      { kind: SpanKind.PRODUCER, attributes },
      parent,
    )
    const sending = this.#otel.trace.setSpan(parent, span)
    const carrier: { traceparent?: string } = {}
    propagation.inject(sending, carrier)
    const { traceparent } = carrier
    const marked = traceparent === undefined ? jobs : jobs.map((job) => markJob(job, traceparent))
    return this.#inSpan(span, sending, () => send(marked))
  }

  process<T>(
    job: ClaimedJob,
    workerId: string,
    run: () => Promise<T>,
    describeEnd: (value: T) => TracedEnd,
  ): Promise<T> {
    if (!this.isActive()) return run()
    const { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = this.#otel
    const carrier = job.traceparent === null ? {} : { traceparent: job.traceparent }
    const sent = propagation.extract(ROOT_CONTEXT, carrier)
    const send = trace.getSpanContext(sent)
    const attributes = processAttributes(job, workerId)
    const links = send === undefined ? [] : [{ context: send }]
    const span = this.#start(`process ${job.queue}`, { kind: SpanKind.CONSUMER, attributes, links }, sent)
    span.addEvent('claim', { 'unstuck.job.fence': job.fence, 'unstuck.job.is_rescue': job.isRescue })
    return this.#inSpan(span, trace.setSpan(sent, span), async () => {
      const value = await run()
      const { end, code, failure } = describeEnd(value)
      if (failure !== undefined) span.recordException(this.#exceptionOf(failure))
      span.addEvent('settle', { 'unstuck.job.end': end })
      span.setAttribute('unstuck.job.end', end)
      if (code !== undefined) span.setAttribute('error.type', code)
      if (FAILED_ENDS.includes(end)) span.setStatus({ code: SpanStatusCode.ERROR, message: code ?? end })
      return value
    })
  }

  /** Any dependency may install the API without an SDK: empty spans were 10 % of the allocations of a short job. */
  isActive(): boolean {
    if (this.#isActive || performance.now() < this.#askAgainAtMs) return this.#isActive
    const { ROOT_CONTEXT, isSpanContextValid } = this.#otel
    // Never ended, so never exported.
    this.#isActive = isSpanContextValid(this.#start('unstuck', {}, ROOT_CONTEXT).spanContext())
    this.#askAgainAtMs = performance.now() + INACTIVE_MS
    return this.#isActive
  }

  #exceptionOf(failure: AttemptFailure): { name: string; message: string; stack?: string } {
    const { type: name, ...rest } = describeFailure(failure, { withStack: this.#withStacks })
    return { name, ...rest }
  }

  #start(name: string, options: SpanOptions, parent: Context): Span {
    return this.#otel.trace.getTracer('unstuck').startSpan(name, options, parent)
  }

  /** Records only the code of the caller's error: whoever catches it records the rest. */
  async #inSpan<T>(span: Span, active: Context, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#otel.context.with(active, work)
    } catch (error) {
      const code = isUnstuckError(error) ? error.code : 'INTERNAL'
      span.setAttribute('error.type', code)
      span.setStatus({ code: this.#otel.SpanStatusCode.ERROR, message: code })
      throw error
    } finally {
      span.end()
    }
  }
}

function markJob(job: NewJob, traceparent: string): NewJob {
  return job.traceparent === undefined ? { ...job, traceparent } : job
}

function sendAttributes(jobs: NewJob[], table: string): Attributes {
  const destination = destinationOf(jobs)
  return {
    ...SYSTEM,
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'enqueue',
    'unstuck.table': table,
    ...(jobs.length > 1 ? { 'messaging.batch.message_count': jobs.length } : {}),
    ...(destination === undefined ? {} : { 'messaging.destination.name': destination }),
  }
}

/** The queue, if all jobs share one. */
function destinationOf(jobs: NewJob[]): string | undefined {
  const [queue, ...others] = new Set(jobs.map((job) => job.queue ?? job.type))
  return others.length === 0 ? queue : undefined
}

function processAttributes(job: ClaimedJob, workerId: string): Attributes {
  return {
    ...SYSTEM,
    'messaging.operation.type': 'process',
    'messaging.operation.name': 'process',
    'messaging.destination.name': job.queue,
    'messaging.message.id': job.jobId,
    'messaging.client.id': workerId,
    'unstuck.job.type': job.type,
    'unstuck.job.stage': job.stage,
    'unstuck.job.attempt': job.attempt,
  }
}
