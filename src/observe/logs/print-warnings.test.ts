import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import { RuntimeEventEmitter } from '../events.ts'
import { printWarnings } from './print-warnings.ts'

let events: RuntimeEventEmitter
let lines: string[]

beforeEach(() => {
  vi.useFakeTimers()
  events = new RuntimeEventEmitter()
  lines = []
  printWarnings(events, (line) => lines.push(line))
})
afterEach(() => vi.useRealTimers())

const jobOf = (number: number, type = 'mail') =>
  ({ jobId: `job-${number}`, type, queue: type, stage: type, attempt: 1, fence: 1 }) as unknown as ClaimedJob

function fail(number: number, message: string, type?: string): void {
  const error = new Error(message)
  events.emit('job:failed', {
    job: jobOf(number, type),
    end: 'retried',
    durationMs: 3,
    code: 'UNKNOWN',
    retryInMs: 4_200,
    error,
    failure: { error, message, stack: 'Error: secret\n    at charge.ts:1' },
  })
}

it('FAIL-7 a failure is one readable line, without its stack', () => {
  fail(1, 'card declined')
  expect(lines).toEqual([
    'unstuck: job failed and will be retried: card declined (mail job-1, UNKNOWN, attempt 1, again in 5 s)\n',
  ])
})

it('FAIL-7 a cause is printed once a minute, and its repetitions are counted', () => {
  for (let number = 1; number <= 12; number++) fail(number, `order ${number} declined`)
  fail(1, 'order 1 declined', 'invoice')
  expect(lines).toHaveLength(2)
  vi.advanceTimersByTime(60_000)
  expect(lines.slice(2)).toEqual([
    expect.stringMatching(/^unstuck: .*order 12 declined.* — 11 more since the last line\n$/),
  ])
  fail(13, 'order 13 declined')
  expect(lines).toHaveLength(4)
})

it('FAIL-7 the count is printed when the worker stops', () => {
  fail(1, 'declined')
  fail(2, 'declined')
  events.emit('worker:stopped', { workerId: 'worker-1', exitCode: 0 })
  expect(lines).toHaveLength(2)
})

it('FAIL-7 warnings are printed, ordinary life is not even listened to', () => {
  events.emit('config:warned', { warning: 'two heartbeats per lease' })
  events.emit('claim:failed', { error: new Error('connect ECONNREFUSED postgres://me:s3cret@db/app') })
  events.emit('worker:started', { workerId: 'worker-1', types: ['mail'], concurrency: 4 })
  expect(lines).toEqual([
    'unstuck: two heartbeats per lease\n',
    'unstuck: claim failed: connect ECONNREFUSED postgres://***@db/app\n',
  ])
  expect(events.hasListeners('job:started')).toBe(false)
  expect(events.hasListeners('job:ended')).toBe(false)
  expect(events.hasListeners('jobs:enqueued')).toBe(false)
})

it('FAIL-7 stacks are printed if asked for, with secrets masked', () => {
  events = new RuntimeEventEmitter()
  printWarnings(events, (line) => lines.push(line), { withStacks: true })
  const error = new Error('declined')
  const stack = 'Error: declined\n    at charge.ts:1 token=s3cret'
  events.emit('job:failed', {
    job: jobOf(1),
    end: 'dead',
    durationMs: 3,
    error,
    failure: { error, message: 'declined', stack },
  })
  expect(lines[0]).toMatch(
    /^unstuck: job dead: declined \(mail job-1, attempt 1\)\n {4}Error: declined\n {8}at charge\.ts:1/,
  )
  expect(lines[0]).not.toContain('s3cret')
})

it('FAIL-7 however many causes there are, few are remembered', () => {
  const word = (number: number) => Array.from(String(number), (digit) => 'abcdefghij'[Number(digit)]).join('')
  for (let number = 0; number < 2_500; number++) fail(number, `cause ${word(number)}`)
  expect(lines).toHaveLength(2_500)
})
