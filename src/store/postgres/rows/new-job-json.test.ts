import { describe, expect, it } from 'vitest'
import { newJobsToJson } from './new-job-json.ts'

const runAt = () => new Date('2030-01-31T10:00:00Z')

describe('newJobsToJson', () => {
  it('WORK-7 sends what all jobs have in common once', () => {
    const jobs = [1, 2].map((payload) => ({ type: 'asr', owner: 'ana', runAt: runAt(), payload }))
    expect(newJobsToJson(jobs)).toEqual([
      '{"type":"asr","run_at":"2030-01-31T10:00:00.000Z","owner":"ana"}',
      '[1,2]',
      null,
    ])
  })

  it('WORK-7 sends for each job the fields in which jobs differ', () => {
    const jobs = [
      { type: 'asr', priority: 1, dedupeKey: 'a' },
      { type: 'asr', priority: 1, payload: null, runAt: runAt() },
    ]
    expect(newJobsToJson(jobs)).toEqual([
      '{"type":"asr","priority":1}',
      '[{},null]',
      '[{"dedupe_key":"a"},{"run_at":"2030-01-31T10:00:00.000Z"}]',
    ])
  })

  it('WORK-7 refuses a date that is not one, whether all jobs have it or one', () => {
    const invalid = new Date(Number.NaN)
    for (const jobs of [
      [{ type: 'asr', runAt: invalid }],
      [{ type: 'asr' }, { type: 'asr', runAt: invalid }],
    ])
      expect(() => newJobsToJson(jobs)).toThrow('runAt: got')
  })
})
