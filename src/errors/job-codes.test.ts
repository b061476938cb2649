import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultCodes, isRetryableCode, publicCodes, toPublicCode } from './index.ts'

const page = readFileSync(new URL('../../docs/concepts/failures.md', import.meta.url), 'utf8')

/** The body rows of the table that follows a heading, each cell as the codes it names. */
function readTable(heading: string): string[][][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)),
  )
}

describe('publicCodes', () => {
  it('FAIL-2 are exactly the ten of the document, in its order', () => {
    const documented =
      'NOT_PDF TOO_LARGE GW_4XX GW_5XX GW_TIMEOUT IO_ERROR NOT_READY EXPIRED FORBIDDEN UNKNOWN'
    expect(publicCodes.join(' ')).toBe(documented)
  })

  it('FAIL-2 are listed in docs/concepts/failures.md, and no other', () => {
    expect(readTable('Codes').map(([codes]) => codes?.[0])).toEqual([...publicCodes])
  })
})

describe('toPublicCode', () => {
  it.each(publicCodes)('FAIL-2 leaves the public code %s as it is', (code) => {
    expect(toPublicCode(code)).toBe(code)
    expect(toPublicCode(code, { isLocalPressure: true })).toBe(code)
  })

  it.each([
    ['GW_UNAVAILABLE', 'GW_5XX'],
    ['ECONNREFUSED', 'GW_5XX'],
    ['EAI_AGAIN', 'GW_5XX'],
    ['NETWORK_ERROR', 'GW_5XX'],
    ['PARSE_ERROR', 'GW_4XX'],
    ['VALIDATION_ERROR', 'GW_4XX'],
    ['INVALID_MAPPING', 'GW_4XX'],
    ['ENOSPC', 'IO_ERROR'],
    ['ENOENT', 'IO_ERROR'],
    ['ETIMEDOUT', 'GW_TIMEOUT'],
    ['timeout', 'GW_TIMEOUT'],
    ['MEMORY_ERROR', 'UNKNOWN'],
    ['NOBODY_MAPPED_THIS', 'UNKNOWN'],
    ['constructor', 'UNKNOWN'],
    ['', 'UNKNOWN'],
  ])('FAIL-2 maps %s to %s', (code, publicCode) => {
    expect(toPublicCode(code)).toBe(publicCode)
  })

  it('FAIL-2 maps MEMORY_ERROR to IO_ERROR under local pressure', () => {
    expect(toPublicCode('MEMORY_ERROR', { isLocalPressure: true })).toBe('IO_ERROR')
  })

  it('FAIL-2 maps every code of the documented table as the table says', () => {
    const rows = readTable('Mapping')
    expect(rows.length).toBeGreaterThan(4)
    for (const [internal = [], [publicCode] = []] of rows) {
      expect(internal.length).toBeGreaterThan(0)
      for (const code of internal) expect([code, toPublicCode(code)]).toEqual([code, publicCode])
    }
  })
})

describe('isRetryableCode', () => {
  it('FAIL-3 allows GW_5XX, GW_TIMEOUT, IO_ERROR and UNKNOWN, and nothing else', () => {
    expect(publicCodes.filter((code) => isRetryableCode(code))).toEqual([
      'GW_5XX',
      'GW_TIMEOUT',
      'IO_ERROR',
      'UNKNOWN',
    ])
  })

  it('FAIL-3 allows nothing that the user caused', () => {
    expect(publicCodes.filter((code) => isRetryableCode(code, { isCausedByUser: true }))).toEqual([])
  })

  it('FAIL-3 judges an internal code by its public one', () => {
    expect(isRetryableCode('ECONNRESET')).toBe(true)
    expect(isRetryableCode('VALIDATION_ERROR')).toBe(false)
  })
})

describe('defaultCodes', () => {
  it('FAIL-2 is the shipped code set', () => {
    expect(defaultCodes).toEqual({ publicCodes, toPublicCode, isRetryable: isRetryableCode })
  })
})
