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
    ['a function', { secret: () => {} }],
    ['a symbol', Symbol('x')],
    ['NaN', { n: Number.NaN }],
    ['NUL', { secret: 'a\0b' }],
    ['NUL after a backslash', 'a\\\0'],
    ['NUL in a key', { 'a\0': 1 }],
    ['half of a surrogate pair', { secret: 'cut \ud83d' }],
    ['the other half', '\ude00'],
  ])('OPS-8 refuses %s in a payload by the name of the field, and shows nothing of it', (_, payload) => {
    const message = refusal(withPayload(payload))
    expect(message).toMatch(/^payload: got an? \w+ \(withheld\), takes JSON/)
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

  it('OPS-8 names the field that was probably meant', () => {
    expect(refusal({ type: 'asr', prioritty: 1 })).toContain(
      'unknown field prioritty — did you mean priority?',
    )
    expect(refusal({})).toBe('type: got undefined, takes a text')
    expect(refusal(null)).toContain('job: got null')
  })
})
