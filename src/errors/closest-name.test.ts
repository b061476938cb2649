import { describe, expect, it } from 'vitest'
import { closestName, isUnstuckError, requireKnownNames } from './index.ts'

const known = ['concurrency', 'databaseUrl', 'graceMs', 'logger', 'schema']

describe('closestName', () => {
  it.each([
    ['concurency', 'concurrency'],
    ['conucrrency', 'concurrency'],
    ['shcema', 'schema'],
    ['databaseURL', 'databaseUrl'],
    ['graceMS2', 'graceMs'],
  ])('OPS-8 takes %s for %s', (name, meant) => {
    expect(closestName(name, known)).toBe(meant)
  })

  it.each(['concur', 'x', '', 'lease'])('OPS-8 guesses nothing for %j, which is too far from all', (name) => {
    expect(closestName(name, known)).toBeUndefined()
  })

  it('OPS-8 takes the nearest of several, and a missing ending where that is allowed', () => {
    expect(closestName('RETRY_MAX', ['RETRY_MAX_ATTEMPTS', 'RETRY_MIN'])).toBe('RETRY_MIN')
    expect(closestName('UNSTUCK_DATABASE', ['UNSTUCK_DATABASE_URL'], { allowsEndings: true })).toBe(
      'UNSTUCK_DATABASE_URL',
    )
    expect(closestName('UNSTUCK_DATABASE', ['UNSTUCK_DATABASE_URL'])).toBeUndefined()
  })
})

describe('requireKnownNames', () => {
  function refusal(given: string[]): string {
    try {
      requireKnownNames('unstuck()', given, known)
    } catch (error) {
      if (isUnstuckError(error, 'INVALID_ARGUMENT')) return error.message
      throw error
    }
    return expect.unreachable('was not refused')
  }

  it('OPS-8 names the unknown option, what was probably meant, and what there is', () => {
    expect(refusal(['schema', 'concurency'])).toBe(
      'unstuck(): unknown option concurency — did you mean concurrency? ' +
        'It takes concurrency, databaseUrl, graceMs, logger, schema.',
    )
    expect(refusal(['lease'])).toBe(
      'unstuck(): unknown option lease. It takes concurrency, databaseUrl, graceMs, logger, schema.',
    )
  })

  it('OPS-8 lets known names pass, and knows nothing of what every object inherits', () => {
    expect(() => requireKnownNames('unstuck()', known, known)).not.toThrow()
    expect(refusal(['constructor'])).toContain('unknown option constructor')
    expect(refusal(['\u001b[31m'])).not.toContain('\u001b')
  })
})
