import { describe, expect, it } from 'vitest'
import { describeKind, readNumber, readText, seconds, type ValueKind } from './value-kind.ts'

const SHARE: ValueKind = { type: 'share' }
const SCHEMA: ValueKind = { type: 'schema' }
const POSTGRES: ValueKind = { type: 'url', protocols: ['postgres:', 'postgresql:'] }

describe('readText', () => {
  it.each([
    '',
    ' ',
    '-1',
    '+1',
    '1.5',
    '15s',
    '1e3',
    '0x10',
    ' 15',
    '15\n',
    'NaN',
    'Infinity',
    '０',
    '0',
    '2147484',
  ])('OPS-8 refuses %j as a number of seconds', (text) => {
    expect(readText(seconds(), text)).toBeUndefined()
  })

  it('OPS-8 reads seconds into milliseconds, up to the longest wait of a timer', () => {
    expect(readText(seconds(), '15')).toBe(15_000)
    expect(readText(seconds(), '2147483')).toBe(2_147_483_000)
    expect(readText(seconds(), '9'.repeat(400))).toBeUndefined()
  })

  it.each([
    ['50', 0.5],
    ['50%', 0.5],
    ['0.5', 0.5],
    ['100', 1],
    ['1%', 0.01],
    ['0.5%', 0.005],
    ['1.5', 0.015],
  ])('BREAK-1 reads the threshold %s as the share %d', (text, share) => {
    expect(readText(SHARE, text)).toBe(share)
  })

  it.each(['1', '1.0', '0', '0%', '0.0', '101', '101%', '50 %', '%', '.5', '-50', 'half'])(
    'BREAK-1 refuses the threshold %j',
    (text) => {
      expect(readText(SHARE, text)).toBeUndefined()
    },
  )

  it('OPS-8 takes a schema name of up to 63 bytes, whatever its letters', () => {
    for (const name of ['unstuck', 'Jobs "live"', 'pg', 'é'.repeat(31), 'a'.repeat(63)]) {
      expect(readText(SCHEMA, name)).toBe(name)
    }
    for (const name of ['', 'pg_jobs', 'a\0b', 'é'.repeat(32), 'a'.repeat(64), 'a\ud800']) {
      expect(readText(SCHEMA, name)).toBeUndefined()
    }
  })

  it.each([
    'postgres://localhost/jobs',
    'postgresql://u:p%40ss@[::1]:5433/jobs?sslmode=require',
    'postgres://u:100%@h/db',
    'postgresql://u@/jobs?host=/var/run/postgresql',
    'postgres://%2Fvar%2Frun%2Fpostgresql/jobs',
    'postgres://',
  ])('OPS-8 takes the database URL %s', (url) => {
    expect(readText(POSTGRES, url)).toBe(url)
  })

  it.each([
    '',
    'localhost/jobs',
    'mysql://h/db',
    'postgres:u:p@h',
    'postgres://u:p/w@h/db',
    'postgres://u:%ff@h/db',
  ])('OPS-8 refuses the database URL %j', (url) => {
    expect(readText(POSTGRES, url)).toBeUndefined()
  })
})

describe('readNumber', () => {
  it('OPS-8 holds a number of a config file to the same range, in the unit of the program', () => {
    expect(readNumber(seconds(), 15_000)).toBe(15_000)
    expect(readNumber(SHARE, 0.5)).toBe(0.5)
    for (const value of [999, 1500.5, Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(readNumber(seconds(), value)).toBeUndefined()
    }
    expect(readNumber(SHARE, 50)).toBeUndefined()
    expect(readNumber(SCHEMA, 7)).toBeUndefined()
  })
})

describe('describeKind', () => {
  it('OPS-8 ends the sentence "takes …"', () => {
    expect(describeKind(seconds())).toBe('a whole number of seconds from 1 to 2147483')
    expect(describeKind({ type: 'choice', words: ['native', 'clip'] })).toBe('native or clip')
    expect(describeKind(POSTGRES)).toBe('a URL that starts with postgres:// or postgresql://')
  })
})
