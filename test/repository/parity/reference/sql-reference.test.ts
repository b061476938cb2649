import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Policy } from '../../../../src/policy/policy.ts'
import { clipProfile } from '../../../../src/profile/clip.ts'
import { nativeProfile } from '../../../../src/profile/native.ts'
import { readRoutines } from '../../../../src/store/postgres/sql-files.ts'

const repository = new URL('../../../../', import.meta.url)
const page = readFileSync(new URL('docs/reference/sql-functions.md', repository), 'utf8')

interface Routine {
  name: string
  isPrivate: boolean
  /** Everything before `language`, as a caller would write it for the native table. */
  signature: string
}

const routines = readRoutines()
  .map(({ name, text }): Routine => {
    const head = /^create or replace (?:function|procedure) ([\s\S]*?)\s+language /m.exec(text)?.[1] ?? ''
    return {
      name,
      isPrivate: text.startsWith('-- Private:'),
      signature: oneLine(head.replace(/\/\*\w+\*\/|"/g, '')),
    }
  })
  .sort((a, b) => (a.name < b.name ? -1 : 1))

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').trim()
}

/** Each documented routine with the first code block of its section. */
const documented = new Map(
  [...page.matchAll(/^### `(\w+)`\n\n```text\n([\s\S]*?)```/gm)].map(([, name = '', signature = '']) => [
    name,
    oneLine(signature),
  ]),
)
const listedPrivate = [...(page.split('\n## Private\n')[1] ?? '').matchAll(/^- `(\w+)`:/gm)].map(
  ([, name = '']) => name,
)

const namesOf = (some: Routine[]) => some.map(({ name }) => name)

describe('docs/reference/sql-functions.md', () => {
  it('lists exactly the private functions of sql/functions as private, once each', () => {
    const privateNames = namesOf(routines.filter(({ isPrivate }) => isPrivate))
    expect(listedPrivate.toSorted((a = '', b = '') => (a < b ? -1 : 1))).toEqual(privateNames)
  })

  it('documents every other function, with its signature', () => {
    const open = routines.filter(({ isPrivate }) => !isPrivate)
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries(open.map(({ name, signature }) => [name, signature])),
    )
  })

  it('lists every column of a policy with the values of the shipped profiles', () => {
    const section = page.split('\n## Policy\n')[1]?.split('\n### ')[0] ?? ''
    const rows = section.split('\n').filter((line) => line.startsWith('| `'))
    const listed = rows.map((row) => row.split('|').map((cell) => cell.trim()))
    const [native] = nativeProfile('unstuck').tables
    const [clip] = clipProfile.tables
    const expected = Object.keys(native.policy).map((name) => [
      `\`${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}\``,
      show(native.policy[name as keyof Policy]),
      show(clip.policy[name as keyof Policy]),
    ])
    expect(listed.map(([, column, , ...values]) => [column, values[0], values[1]?.split(';')[0]])).toEqual(
      expected,
    )
  })
})

function show(value: Policy[keyof Policy]): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
