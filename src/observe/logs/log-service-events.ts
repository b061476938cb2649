// Log lines of services: sweeps, retention, schedules, dispatch, breakers, limits, notifications.
import type { RuntimeEventEmitter } from '../events.ts'
import { reasonOf, snake } from './log-fields.ts'
import type { Logger } from './logger.ts'

export function logServiceEvents(events: RuntimeEventEmitter, logger: Logger): void {
  logSweeps(events, logger)
  logDependencies(events, logger)
  logSchedules(events, logger)
  logDeliveries(events, logger)
  events.on('listen:started', ({ channel }) => {
    logger.info({ event: 'listen:started', channel }, 'listening for new jobs')
  })
  events.on('listen:failed', ({ reason }) => {
    logger.warn(
      { event: 'listen:failed', reason: reasonOf(reason) },
      'not listening for new jobs: polling only',
    )
  })
  events.on('type:unhandled', ({ table, type, queue, waiting, reason }) => {
    const fields = { event: 'type:unhandled', table, type, queue, waiting, reason }
    logger.warn(fields, `jobs of type ${type} wait`)
  })
  events.on('service:standing-by', ({ service, error }) => {
    const fields = { event: 'service:standing-by', service, reason: reasonOf(error) }
    logger.warn(fields, `no ${service} while the table is in mode observe`)
  })
  events.on('jobs:not-understood', ({ table, jobId, reason }) => {
    const about = jobId === null ? {} : { job_id: jobId }
    logger.warn({ event: 'jobs:not-understood', table, ...about, reason }, 'not understood')
  })
  events.on('config:warned', ({ warning }) => {
    logger.warn({ event: 'config:warned', reason: reasonOf(warning) }, reasonOf(warning))
  })
}

function logSweeps(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('sweep:done', ({ table, requeued, dead, held, holdReason, durationMs }) => {
    const counts = { requeued, dead, held }
    const fields = { event: 'sweep:done', table, ...counts, hold_reason: holdReason, duration_ms: durationMs }
    const why = holdReason === null ? '' : ` (${holdReason})`
    if (requeued + dead + held > 0 || holdReason !== null)
      logger.warn(fields, `sweep: ${requeued} requeued, ${dead} dead, ${held} held${why}`)
  })
  events.on('sweep:failed', ({ table, error }) => {
    logger.error({ event: 'sweep:failed', table, reason: reasonOf(error) }, 'sweep failed')
  })
  events.on('prune:done', ({ table, deleted, durationMs }) => {
    if (deleted === 0) return
    logger.info({ event: 'prune:done', table, deleted, duration_ms: durationMs }, `${deleted} deleted`)
  })
  events.on('prune:failed', ({ table, error }) => {
    logger.error({ event: 'prune:failed', table, reason: reasonOf(error) }, 'prune failed')
  })
  events.on('trends:failed', ({ table, error }) => {
    logger.warn({ event: 'trends:failed', table, reason: reasonOf(error) }, 'trends could not be written')
  })
}

function logDependencies(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('breaker:changed', ({ name, from, to, reason }) => {
    const fields = { event: 'breaker:changed', dependency: name, from, breaker: to, reason }
    if (to === 'open' || to === 'held') logger.warn(fields, `breaker ${to}: no jobs of ${name} are started`)
    else logger.info(fields, `breaker ${to}`)
  })
  events.on('breaker:failed', ({ name, error }) => {
    const fields = { event: 'breaker:failed', dependency: name, reason: reasonOf(error) }
    logger.warn(fields, 'the breaker could not be read or updated')
  })
  events.on('limit:reached', (fields) => {
    const message = `rate limit: ${fields.released} went back unstarted`
    logger.info({ event: 'limit:reached', ...snake(fields) }, message)
  })
}

function logDeliveries(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('delivery:done', ({ table, webhookId, deliveryId, tries, durationMs }) => {
    const fields = {
      webhook_id: webhookId,
      delivery_id: deliveryId,
      tries,
      duration_ms: Math.round(durationMs),
    }
    logger.info({ event: 'delivery:done', table, ...fields }, 'webhook delivered')
  })
  events.on('delivery:failed', ({ table, webhookId, deliveryId, tries, outcome, error }) => {
    const fields = { webhook_id: webhookId, delivery_id: deliveryId, tries, outcome, reason: reasonOf(error) }
    const message = outcome === 'failed' ? 'webhook given up' : 'webhook not delivered: will be retried'
    logger.warn({ event: 'delivery:failed', table, ...fields }, message)
  })
}

function logSchedules(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('schedule:enqueued', ({ name, jobId, dueAt }) => {
    const fields = { event: 'schedule:enqueued', schedule: name, job_id: jobId, due_at: dueAt }
    logger.info({ ...fields, status: 'waiting' }, 'scheduled job enqueued')
  })
  events.on('schedule:failed', ({ name, error }) => {
    logger.error({ event: 'schedule:failed', schedule: name, reason: reasonOf(error) }, 'schedule failed')
  })
  events.on('dispatch:done', ({ table, published }) => {
    if (published > 0) logger.info({ event: 'dispatch:done', table, published }, `${published} published`)
  })
  events.on('dispatch:failed', ({ table, error, waiting }) => {
    const fields = { event: 'dispatch:failed', table, reason: reasonOf(error), waiting }
    logger.error(fields, 'publishing failed: will be retried')
  })
}
