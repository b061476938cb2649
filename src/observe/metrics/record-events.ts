// Turns events of workers and reapers into metrics, the same for Prometheus and OpenTelemetry.
import type { EventListener, EventName, RuntimeEvents } from '../events.ts'
import type { CounterName, HistogramName, Labels, MetricSink } from './instruments.ts'
import { LabelLimit } from './label-limit.ts'

/** Any source of runtime events: the emitter, or an application. */
export interface RuntimeEventSource {
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void
}

/** Returns a function that stops it. */
export function recordEvents(events: RuntimeEventSource, table: string, given: MetricSink): () => void {
  const sink = limited(given)
  const offs = [
    ...recordJobs(events, table, sink),
    ...recordSweeps(events, sink),
    ...recordCalls(events, sink),
    events.on('heartbeat:sent', () => sink.add('heartbeats', { table }, 1)),
    events.on('heartbeat:failed', () => sink.add('heartbeatsFailed', { table }, 1)),
    events.on('claim:failed', () => sink.add('claimsFailed', { table }, 1)),
  ]
  return () => {
    for (const off of offs) off()
  }
}

function recordJobs(events: RuntimeEventSource, table: string, sink: MetricSink): (() => void)[] {
  return [
    events.on('jobs:enqueued', ({ table: of, type, created }) => {
      if (created > 0) sink.add('jobsCreated', { table: of, type }, created)
    }),
    events.on('job:ended', (ended) => recordEnd(ended, table, sink)),
    events.on('job:hung', ({ job }) => sink.add('handlersHung', { table, type: job.type }, 1)),
    events.on('dispatch:done', ({ table: of, published }) => {
      if (published > 0) sink.add('jobsDispatched', { table: of }, published)
    }),
    events.on('delivery:done', ({ table: of }) => {
      sink.add('deliveries', { table: of, outcome: 'delivered' }, 1)
    }),
    events.on('delivery:failed', ({ table: of, outcome }) => {
      sink.add('deliveries', { table: of, outcome }, 1)
    }),
    events.on('prune:done', ({ table: of, deleted }) => {
      if (deleted > 0) sink.add('jobsPruned', { table: of }, deleted)
    }),
  ]
}

function recordEnd(
  { job, end, durationMs, code }: RuntimeEvents['job:ended'],
  table: string,
  sink: MetricSink,
): void {
  const { type } = job
  sink.observe('jobDuration', { table, type, end }, durationMs / 1_000)
  if (end === 'completed') sink.add('jobsCompleted', { table, type }, 1)
  else if (end === 'retried') sink.add('retriesScheduled', { table, type }, 1)
  else if (end === 'dead') sink.add('jobsFailed', { table, code: code ?? 'UNKNOWN' }, 1)
  else if (end === 'lost') sink.add('leasesLost', { table, type }, 1)
}

function recordSweeps(events: RuntimeEventSource, sink: MetricSink): (() => void)[] {
  return [
    events.on('job:reaped', ({ table, action, stage }) => {
      const labels = { table, stage: stage ?? 'none' }
      if (action === 'requeued') sink.add('reaperRequeues', labels, 1)
      if (action !== 'dead') return
      sink.add('reaperFailures', labels, 1)
      sink.add('jobsFailed', { table, code: 'timeout' }, 1)
    }),
    events.on('sweep:done', ({ table, durationMs }) => {
      sink.observe('reaperScanDuration', { table, stage: 'all' }, durationMs)
    }),
    events.on('sweep:failed', ({ table }) => sink.add('sweepsFailed', { table }, 1)),
  ]
}

function recordCalls(events: RuntimeEventSource, sink: MetricSink): (() => void)[] {
  return [
    events.on('gateway:called', ({ call: { dependency, outcome, durationMs } }) => {
      const labels = { dependency: dependency ?? 'none', outcome }
      sink.observe('gatewayCallDuration', labels, durationMs / 1_000)
    }),
    events.on('limit:reached', ({ key, released }) => {
      sink.add('limitReleases', { key }, released)
    }),
  ]
}

function limited(sink: MetricSink): MetricSink {
  const limit = new LabelLimit()
  return {
    add<Name extends CounterName>(name: Name, labels: Labels<Name>, count: number) {
      sink.add(name, limit.apply(labels), count)
    },
    observe<Name extends HistogramName>(name: Name, labels: Labels<Name>, value: number) {
      sink.observe(name, limit.apply(labels), value)
    },
  }
}
