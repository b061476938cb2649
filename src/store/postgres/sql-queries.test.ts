import { describe, expect, it } from 'vitest'
import { namedStatements } from '../named-statements.ts'
import { readSqlFolder } from './sql-files.ts'
import { readQuery } from './sql-queries.ts'

describe('the statements of sql/queries', () => {
  it('OPS-7 every name stands for one statement', () => {
    const names = readSqlFolder('queries').flatMap(({ text }) => namedStatements(text).map(([name]) => name))
    expect(names).toContain('claim_jobs')
    expect(names).toEqual([...new Set(names)])
  })

  it('OPS-7 a statement comes without its name, its leading comments and its semicolon', () => {
    const text =
      '-- About the file.\n\n-- name: one\n-- Why.\nselect 1\n -- kept\n where true;\n\n-- name: two\nselect 2;\n'
    expect(namedStatements(text)).toEqual([
      ['one', 'select 1\n -- kept\n where true'],
      ['two', 'select 2'],
    ])
  })

  it('OPS-7 an unknown name is refused', () => {
    expect(() => readQuery('claim_nothing')).toThrow('claim_nothing')
  })
})
