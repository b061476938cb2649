import { expect, it } from 'vitest'
import { withLiterals } from './statement-text.ts'

it('OPS-11 a value is not written into a comment, which a line break in it would end', () => {
  const sql = '-- Refuses the words in $2.\nselect $1, $2; -- of $1'
  expect(withLiterals(sql, ["it's", ['a\nb', '"c"']])).toBe(
    `-- Refuses the words in $2.\nselect 'it''s', E'{"a\nb","\\\\"c\\\\""}'; -- of $1`,
  )
})
