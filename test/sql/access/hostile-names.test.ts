// Names and texts of any kind reach PostgreSQL as they are, or are refused before they do (C19).
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quoteIdentifier, quoteLiteral } from '../../../src/store/postgres/render/identifiers.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { propertyRuns } from '../../support/vitest/property-runs.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const hostile = fc.oneof(
  fc.constantFrom(
    'a"b',
    '""',
    `a'; drop table x; --`,
    '--',
    '/*',
    '*/',
    '$$',
    'select',
    'user',
    'table',
    '\\',
    'A',
    ' ',
    '😀',
  ),
  fc.constantFrom(
    'x'.repeat(63),
    'x'.repeat(64),
    `${'x'.repeat(60)}😀`,
    'é'.repeat(31),
    'é'.repeat(32),
    '\0',
    'a\0b',
    '',
  ),
  fc.string({ unit: 'grapheme', maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const isName = (name: string) => name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= 63
const { numRuns, ...parameters } = propertyRuns()

describe('hostile names', () => {
  it('OPS-8 a quoted name is that name to PostgreSQL, and one that it would cut is refused', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (name) => {
        if (!isName(name)) {
          expect(() => quoteIdentifier(name)).toThrow(/1 to 63 bytes/)
          return
        }
        const quoted = quoteIdentifier(name)
        const { fields } = await database.pool.query(`select 1 as ${quoted}`)
        expect(fields.map((field) => field.name)).toEqual([name])
        await database.pool.query(`create table ${quoted} (${quoted} int); drop table ${quoted}`)
      }),
      { ...parameters, numRuns },
    )
  })

  it.each(['on', 'off'])(
    'OPS-8 a quoted text is that text, with standard_conforming_strings %s',
    async (setting) => {
      const client = await database.connect()
      await client.query(`set standard_conforming_strings = ${setting}; set escape_string_warning = off`)
      await fc.assert(
        fc.asyncProperty(hostile, async (text) => {
          if (text.includes('\0')) {
            expect(() => quoteLiteral(text)).toThrow(/NUL/)
            return
          }
          const { rows } = await client.query(`select ${quoteLiteral(text)} as text`)
          expect(rows[0].text).toBe(text)
        }),
        { ...parameters, numRuns },
      )
    },
  )
})
