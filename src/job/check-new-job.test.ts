import { describe, expect, it } from 'vitest'
import { isUnstuckError } from '../errors/index.ts'
import { checkNewJob } from './check-new-job.ts'
import type { JsonValue, NewJob } from './job.ts'

const limits = { maxPayloadBytes: 100 }

function refusal(job: unknown): string {
  try {
    checkNewJob(job as NewJob, limits)
  } catch (error) {
    if (isUnstuckError(error, 'INVALID_ARGUMENT')) return error.message
    throw error
  }
  return expect.unreachable('was not refused')
}

const withPayload = (payload: unknown) => ({ type: 'asr', payload })

describe('checkNewJob', () => {
  it.each<[string, NewJob]>([
    ['a type alone', { type: 'asr' }],
    ['null', { type: 'asr', payload: null }],
    [
      'whole surrogate pairs and escapes that only look like NUL',
      withPayload('😀 \\u0000 \\ud800') as NewJob,
    ],
    [
      'every field',
      { type: 'a', queue: 'q', priority: 1, delayMs: 5, stage: 's', owner: 'o', dedupeKey: 'k' },
    ],
  ])('OPS-8 takes %s', (_, job) => {
    expect(() => checkNewJob(job, limits)).not.toThrow()
  })

  it('OPS-8 measures a payload in bytes of UTF-8, the limit included', () => {
    const fits: JsonValue = 'é'.repeat(49)
    expect(() => checkNewJob({ type: 'asr', payload: fits }, limits)).not.toThrow()
    expect(refusal(withPayload(`${fits}x`))).toBe(
      'payload: got 101 bytes, takes at most 100 bytes of JSON (maxPayloadBytes)',
    )
  })

  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  it.each([
    ['a bigint', { n: 1n }],
    ['a cycle', cycle],
    ['a function', { run: () => {} }],
    ['a symbol', Symbol('x')],
    ['NaN', { n: Number.NaN }],
    ['NUL', { secret: 'a\0b' }],
    ['NUL after a backslash', 'a\\\0'],
    ['NUL in a key', { 'a\0': 1 }],
    ['half of a surrogate pair', { secret: 'cut \ud83d' }],
    ['the other half', '\ude00'],
  ])('OPS-8 refuses %s in a payload by the name of the field, and shows nothing of it', (_, payload) => {
    const message = refusal(withPayload(payload))
    expect(message).toMatch(/^payload[\w.[\]]*: got [\w ()]+, takes /)
    expect(message).not.toContain('secret')
  })

  it.each(['type', 'queue', 'stage', 'owner', 'dedupeKey', 'traceparent'])(
    'OPS-8 refuses a %s that PostgreSQL cannot store',
    (field) => {
      expect(refusal({ type: 'asr', [field]: 'a\0' })).toContain(`${field}: got "a\\u0000", takes a text`)
      expect(refusal({ type: 'asr', [field]: '\ud83d' })).toContain(`${field}: got`)
      expect(refusal({ type: 'asr', [field]: 7 })).toBe(`${field}: got 7, takes a text`)
    },
  )

  it.each<[string, object, string]>([
    ['an empty type', { type: '' }, 'type: got "", takes 1 to 200 characters'],
    ['a long type', { type: 'x'.repeat(201) }, 'type: got "xxx'],
    ['an empty queue', { queue: '' }, 'queue: got "", takes 1 to 200 characters'],
    ['a long key', { dedupeKey: 'é'.repeat(901) }, 'dedupeKey: got "ééé'],
    [
      'a priority out of range',
      { priority: 32_768 },
      'priority: got 32768, takes a whole number from -32768 to',
    ],
    ['half a priority', { priority: 1.5 }, 'priority: got 1.5, takes a whole number'],
    ['no attempts', { maxAttempts: 0 }, 'maxAttempts: got 0, takes a whole number from 1 to 1000'],
    ['a text as a number', { expectedDurationMs: '5' }, 'expectedDurationMs: got "5", takes a whole number'],
    ['a negative delay', { delayMs: -1 }, 'delayMs: got -1, takes milliseconds from 0 to ten years'],
    ['a delay of NaN', { delayMs: Number.NaN }, 'delayMs: got NaN, takes'],
    ['a time as a text', { runAt: '2020-01-01' }, 'runAt: got "2020-01-01", takes a valid Date'],
    ['an invalid time', { runAt: new Date('soon') }, 'runAt: got null, takes a valid Date'],
    ['a year that ISO 8601 lacks', { runAt: new Date(8.64e15) }, 'runAt: got'],
    [
      'a time and a delay',
      { runAt: new Date(0), delayMs: 1 },
      'runAt: got "1970-01-01T00:00:00.000Z", takes a time or',
    ],
  ])('OPS-8 refuses %s before anything is sent', (_, fields, message) => {
    expect(refusal({ type: 'asr', ...fields })).toContain(message)
  })

  it('OPS-8 counts characters like PostgreSQL', () => {
    expect(() => checkNewJob({ type: '😀'.repeat(200) }, limits)).not.toThrow()
    expect(refusal({ type: '😀'.repeat(201) })).toContain('takes 1 to 200 characters')
  })

  it('OPS-8 names the field that was probably meant', () => {
    expect(refusal({ type: 'asr', prioritty: 1 })).toContain(
      'unknown field prioritty — did you mean priority?',
    )
    expect(refusal({})).toBe('type: got undefined, takes a text')
    expect(refusal(null)).toContain('job: got null')
  })
})
