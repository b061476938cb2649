import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { assertIdentifier, assertPlainName, quoteIdentifier, quoteLiteral } from './identifiers.ts'

let client: pg.Client

beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
})
afterAll(() => client.end())

const fits = (name: string) => !name.includes('\0') && Buffer.byteLength(name) <= 63

describe('quoteIdentifier', () => {
  it.each([
    ['jobs', '"jobs"'],
    ['user', '"user"'],
    ['Order', '"Order"'],
    ['a"b', '"a""b"'],
    ['a;--', '"a;--"'],
    ['größe', '"größe"'],
  ])('C19 %s becomes %s', (name, quoted) => {
    expect(quoteIdentifier(name)).toBe(quoted)
  })

  it('C19 any name comes back from the server as it was', async () => {
    const names = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }).filter(fits)
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const { fields } = await client.query(`select 1 as ${quoteIdentifier(name)}`)
        expect(fields[0]?.name).toBe(name)
      }),
      { numRuns: 200 },
    )
  })

  it.each(['', 'a\0', 'x'.repeat(64), 'é'.repeat(32)])('C19 %j is refused', (name) => {
    expect(() => quoteIdentifier(name)).toThrow('identifier: got')
  })
})

describe('quoteLiteral', () => {
  it.each([
    ['queued', `'queued'`],
    [`it's`, `'it''s'`],
    ['a\\b', `E'a\\\\b'`],
    [`\\'`, `E'\\\\'''`],
    ['', `''`],
  ])('C19 %s becomes %s', (value, quoted) => {
    expect(quoteLiteral(value)).toBe(quoted)
  })

  it.each(['on', 'off'])(
    'C19 any text comes back as it was with standard_conforming_strings %s',
    async (setting) => {
      await client.query(`set standard_conforming_strings = ${setting}; set escape_string_warning = off`)
      const texts = fc
        .array(fc.constantFrom(`'`, '\\', '"', '$$', '--', '/*', 'n', 'é', '\n', ';'), { maxLength: 12 })
        .map((parts) => parts.join(''))
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const { rows } = await client.query(`select ${quoteLiteral(text)} as text`)
          expect(rows).toEqual([{ text }])
        }),
        { numRuns: 200 },
      )
    },
  )

  it('C19 a NUL character is refused', () => {
    expect(() => quoteLiteral('a\0')).toThrow('literal: got "a\\u0000", takes text without a NUL character')
  })
})

describe('assertIdentifier', () => {
  it('C19 counts bytes, as PostgreSQL does', () => {
    expect(() => assertIdentifier('column', 'é'.repeat(31))).not.toThrow()
    expect(() => assertIdentifier('column', 'é'.repeat(32))).toThrow('column: got')
  })
})

describe('assertPlainName', () => {
  it.each(['unstuck', '_x', 'a1_b2', 'x'.repeat(63)])('C19 %s is plain', (name) => {
    expect(() => assertPlainName('schema', name)).not.toThrow()
  })

  it.each(['', '1a', 'A', 'a-b', 'a b', 'a"b', 'pg_a', 'x'.repeat(64), 'a\n', 'ä'])(
    'C19 %j is not',
    (name) => {
      expect(() => assertPlainName('schema', name)).toThrow('schema: got')
    },
  )

  it('C19 a name may be held shorter', () => {
    expect(() => assertPlainName('attachment', 'abcd', 3)).toThrow('at most 3 of them')
  })
})
