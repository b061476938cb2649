import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorCatalog, exitCodes } from '../../../../src/errors/index.ts'

const page = readFileSync(new URL('../../../../docs/reference/errors.md', import.meta.url), 'utf8')

/** The body rows of the table that follows a heading. */
function readTable(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('docs/reference/errors.md', () => {
  it('OPS-8 lists every code of the catalogue with its facts, in its order, and no other', () => {
    const catalogued = Object.entries(errorCatalog).map(([code, entry]) => [
      `\`${code}\``,
      entry.meaning,
      String(entry.httpStatus),
      String(entry.exitCode),
      entry.sqlState === null ? '–' : `\`${entry.sqlState}\``,
      entry.isRetryable ? 'yes' : 'no',
    ])
    expect(readTable('Codes')).toEqual(catalogued)
  })

  it('OPS-8 lists every exit code, and no other', () => {
    const listed = readTable('Exit codes of the command line').map(([code]) => Number(code))
    expect(listed).toEqual(Object.values(exitCodes))
  })

  it('OPS-8 gives each SQLSTATE to one code', () => {
    const states = Object.values(errorCatalog).flatMap(({ sqlState }) => sqlState ?? [])
    expect(new Set(states).size).toBe(states.length)
  })
})
