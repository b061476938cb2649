// One structured log line per event that matters to an operator, with the same field names everywhere (SEE-1).
import type { RuntimeEventEmitter } from '../events.ts'
import { reasonOf, snake } from './log-fields.ts'
import { type LogOptions, logJobEvents } from './log-job-events.ts'
import { logServiceEvents } from './log-service-events.ts'
import type { Logger } from './logger.ts'

export type { Logger } from './logger.ts'

/** Interval between two lines about one outage: heartbeats are retried every 500 ms. */
const REMIND_MS = 60_000
/** A shorter block of the event loop is ordinary work. */
const WORTH_A_LINE_MS = 1_000

export function logEvents(events: RuntimeEventEmitter, logger: Logger, options: LogOptions = {}): void {
  logWorkerEvents(events, logger)
  logHeartbeats(events, logger)
  logJobEvents(events, logger, options)
  logServiceEvents(events, logger)
}

function logWorkerEvents(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('worker:started', (fields) =>
    logger.info({ event: 'worker:started', ...snake(fields) }, 'worker started'),
  )
  events.on('worker:draining', (fields) =>
    logger.info({ event: 'worker:draining', ...snake(fields) }, 'worker draining'),
  )
  events.on('worker:stopped', (fields) =>
    logger.info({ event: 'worker:stopped', ...snake(fields) }, 'worker stopped'),
  )
  events.on('worker:unreported', ({ workerId, error }) => {
    const fields = { event: 'worker:unreported', worker_id: workerId, reason: reasonOf(error) }
    logger.warn(fields, 'the store could not be told of this worker')
  })
  events.on('presence:off', (fields) =>
    logger.info(
      { event: 'presence:off', ...snake(fields) },
      'presence is off: the end of this process will be noticed when its leases end',
    ),
  )
  events.on('shard:silent', ({ shard, error }) => {
    logger.error({ event: 'shard:silent', shard, reason: reasonOf(error) }, 'a shard does not answer')
  })
  events.on('shard:answered', (fields) =>
    logger.info({ event: 'shard:answered', ...snake(fields) }, 'a shard answers again'),
  )
  events.on('claim:failed', ({ error }) => {
    logger.error({ event: 'claim:failed', reason: reasonOf(error) }, 'claim failed')
  })
  events.on('loop:lagged', ({ lagMs }) => {
    if (lagMs < WORTH_A_LINE_MS) return
    logger.warn({ event: 'loop:lagged', lag_ms: Math.round(lagMs) }, 'a handler blocks the event loop')
  })
}

/** Logs an outage at its start, once a minute and at its end, each time with the number of failed heartbeats. */
function logHeartbeats(events: RuntimeEventEmitter, logger: Logger): void {
  let failures = 0
  let nextLineMs = 0
  events.on('heartbeat:failed', ({ error, failingForMs }) => {
    failures += 1
    if (failingForMs < nextLineMs) return
    nextLineMs = failingForMs + REMIND_MS
    const fields = {
      event: 'heartbeat:failed',
      reason: reasonOf(error),
      failing_for_ms: Math.round(failingForMs),
      failures,
    }
    logger.error(fields, 'heartbeat failed: no more jobs are claimed until it works again')
  })
  events.on('heartbeat:recovered', ({ failedForMs }) => {
    const fields = { event: 'heartbeat:recovered', failed_for_ms: Math.round(failedForMs), failures }
    logger.info(fields, 'heartbeat works again')
    failures = 0
    nextLineMs = 0
  })
}
