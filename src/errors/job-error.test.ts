import { describe, expect, it } from 'vitest'
import { criticalError, isJobError, JobError, permanentError, transientError } from './index.ts'

describe('JobError', () => {
  it('FAIL-1 is TRANSIENT and UNKNOWN where nothing else is said', () => {
    const error = new JobError('no luck')
    expect(error).toMatchObject({
      name: 'JobError',
      message: 'no luck',
      code: 'UNKNOWN',
      category: 'TRANSIENT',
      isCausedByUser: false,
    })
    expect('retryAfterMs' in error || 'gatewayStatus' in error || 'cause' in error).toBe(false)
  })

  it('FAIL-1 carries its category, code, cause, status and wait', () => {
    const cause = new Error('refused')
    const options = { code: 'GW_5XX', retryAfterMs: 5000, gatewayStatus: 503, cause }
    expect(transientError('busy', options)).toMatchObject({ ...options, category: 'TRANSIENT' })
    expect(permanentError('bad', { code: 'NOT_PDF', isCausedByUser: true })).toMatchObject({
      category: 'PERMANENT',
      code: 'NOT_PDF',
      isCausedByUser: true,
    })
    expect(criticalError('no key').category).toBe('CRITICAL')
  })
})

describe('isJobError', () => {
  it('FAIL-1 matches an error of another copy of the package by its name and shape', () => {
    const foreign = Object.assign(new Error('x'), {
      name: 'JobError',
      code: 'NOT_PDF',
      category: 'PERMANENT',
    })
    expect(isJobError(foreign)).toBe(true)
    expect(isJobError(Object.assign(foreign, { category: 'FATAL' }))).toBe(false)
  })

  it('FAIL-1 matches a class that was made from it under another name', () => {
    class NotPdf extends JobError {
      override readonly name = 'NotPdf'
    }
    expect(isJobError(new NotPdf('x'))).toBe(true)
  })

  it('FAIL-1 matches nothing else, and never throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = {
      get name(): string {
        throw new Error('trap')
      },
    }
    const values = [null, undefined, 'JobError', 7, {}, new Error('x'), Symbol('s'), proxy, trap]
    for (const value of values) expect(isJobError(value)).toBe(false)
  })
})
