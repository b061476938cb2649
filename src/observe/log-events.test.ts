import { expect, it } from 'vitest'
import type { ClaimedJob } from '../job/lease.ts'
import { RuntimeEventEmitter } from './events.ts'
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

it('SEE-1 the end of a job is one line with event, job_id, status, attempt, duration_ms and error_code', () => {
  const { events, lines } = record()
  events.emit('job:ended', { job, end: 'dead', durationMs: 42, code: 'GW_5XX', retryInMs: null })
  expect(lines).toMatchObject([
    {
      level: 'error',
      fields: {
        event: 'job:ended',
        job_id: 'job-1',
        status: 'dead',
        attempt: 2,
        duration_ms: 42,
        error_code: 'GW_5XX',
      },
    },
  ])
})

it('SEE-1 no line holds a payload', () => {
  const { events, lines } = record()
  events.emit('job:started', { job })
  events.emit('job:ended', { job, end: 'completed', durationMs: 1 })
  events.emit('job:aborted', { job, reason: 'deadline' })
  expect(lines).toHaveLength(3)
  expect(JSON.stringify(lines)).not.toContain('4111')
})

it('SEE-1 a sweep that found nothing is silent, one that did is a line', () => {
  const { events, lines } = record()
  events.emit('sweep:done', { table: 'jobs', requeued: 0, dead: 0, held: 0, durationMs: 1 })
  events.emit('sweep:done', { table: 'jobs', requeued: 2, dead: 1, held: 0, durationMs: 1 })
  expect(lines).toMatchObject([{ level: 'warn', fields: { event: 'sweep:done', requeued: 2, dead: 1 } }])
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
