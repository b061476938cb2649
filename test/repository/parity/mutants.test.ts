import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { mutants } from '../../../mutants/src/mutants.ts'

const countIn = (file: string, text: string) =>
  readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').split(text).length - 1

it('the text that a mutant replaces occurs exactly once', () => {
  const edits = mutants.flatMap(({ id, edits }) =>
    edits.map(({ file, find }) => ({ id, count: countIn(file, find) })),
  )
  expect(edits.filter(({ count }) => count !== 1)).toEqual([])
})
