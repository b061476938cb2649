import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ErrorCode,
  errorCatalog,
  invalidArgument,
  isUnstuckError,
  showValue,
  UnstuckError,
} from './index.ts'

describe('UnstuckError', () => {
  it('OPS-8 takes from the catalogue whether the same call may succeed later', () => {
    for (const code of Object.keys(errorCatalog) as ErrorCode[]) {
      expect(new UnstuckError(code, 'x').isRetryable).toBe(errorCatalog[code].isRetryable)
    }
  })

  it('OPS-8 carries details, hint and cause, and has neither hint nor cause where none was given', () => {
    const cause = new Error('refused')
    const full = new UnstuckError('LOCK_TIMEOUT', 'jobs is locked', {
      details: { table: 'jobs' },
      hint: 'wait',
      cause,
    })
    expect(full).toMatchObject({ name: 'UnstuckError', details: { table: 'jobs' }, hint: 'wait', cause })
    const bare = new UnstuckError('INTERNAL', 'x')
    expect(bare.details).toEqual({})
    expect('hint' in bare || 'cause' in bare).toBe(false)
  })
})

describe('isUnstuckError', () => {
  it('OPS-8 matches an error of another copy of the package by its name and code', () => {
    const foreign = Object.assign(new Error('gone'), { name: 'UnstuckError', code: 'LEASE_LOST' })
    expect(isUnstuckError(foreign)).toBe(true)
    expect(isUnstuckError(foreign, 'LEASE_LOST')).toBe(true)
    expect(isUnstuckError(foreign, 'INTERNAL')).toBe(false)
  })

  it('OPS-8 matches neither errors of others that have a code nor codes outside the catalogue', () => {
    expect(isUnstuckError(Object.assign(new Error('x'), { code: 'INTERNAL' }))).toBe(false)
    expect(isUnstuckError(Object.assign(new Error('x'), { name: 'UnstuckError', code: 'toString' }))).toBe(
      false,
    )
    for (const value of [null, undefined, 'LEASE_LOST', 7, {}]) expect(isUnstuckError(value)).toBe(false)
  })
})

describe('invalidArgument', () => {
  it('OPS-8 says in one line which argument, what it got and what it takes', () => {
    const error = invalidArgument('limit', -1, 'a whole number from 1 to 10000')
    expect(error.message).toBe('limit: got -1, takes a whole number from 1 to 10000')
    expect(error.code).toBe('INVALID_ARGUMENT')
    expect(error.details).toEqual({ argument: 'limit', got: '-1', takes: 'a whole number from 1 to 10000' })
  })

  it('OPS-8 withholds a value that may be a payload or a secret', () => {
    const error = invalidArgument('payload', { password: 'hunter2' }, 'JSON', { withhold: true })
    expect(error.message).toBe('payload: got an object (withheld), takes JSON')
    expect(JSON.stringify(error.details)).not.toContain('hunter2')
    expect(invalidArgument('url', undefined, 'a URL', { withhold: true }).message).toContain('got undefined')
    expect(invalidArgument('jobs', ['s3cret'], 'jobs', { withhold: true }).message).toContain(
      'an array (withheld)',
    )
  })
})

describe('showValue', () => {
  it.each([
    [Number.NaN, 'NaN'],
    [-0, '-0'],
    [12n, '12n'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Symbol('s'), 'a symbol'],
    [() => 1, 'a function'],
    [{ id: 1n }, '{"id":"1n"}'],
    [{ toJSON: () => undefined }, 'an object'],
    ['a\n\u001b[31m\u0085\u202e', '"a\\n\\u001b[31m\\u0085\\u202e"'],
  ])('OPS-8 shows %o', (value, shown) => {
    expect(showValue(value)).toBe(shown)
  })

  it('OPS-8 shows a value that JSON refuses by its kind', () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    expect(showValue(cycle)).toBe('an object')
  })

  it('OPS-8 shows any value in one line of at most 60 characters without control characters', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string({ unit: 'binary', maxLength: 200 })), (value) => {
        const shown = showValue(value)
        expect(shown.length).toBeLessThanOrEqual(60)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u)
      }),
    )
  })
})
