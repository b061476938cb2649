import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Policy } from '../../src/policy/policy.ts'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'

const repository = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/reference/sql-functions.md', repository), 'utf8')

interface Routine {
  name: string
  isMarkedPrivate: boolean
  /** Everything before `language`, as a caller would write it for the native table. */
  signature: string
}

function readRoutines(folder: 'functions' | 'core'): Routine[] {
  const home = new URL(`sql/${folder}/`, repository)
  const files = readdirSync(home).filter((file) => file.endsWith('.sql'))
  return files.sort().map((file) => {
    const sql = readFileSync(new URL(file, home), 'utf8')
    const head = /^create or replace (?:function|procedure) ([\s\S]*?)\s+language /m.exec(sql)?.[1] ?? ''
    return {
      name: file.replace(/\.sql$/, ''),
      isMarkedPrivate: sql.startsWith('-- Private:'),
      signature: oneLine(head.replace(/\/\*\w+\*\/|"/g, '')),
    }
  })
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').trim()
}

const functions = readRoutines('functions')
const core = readRoutines('core')

/** Each documented routine with the first code block of its section. */
const documented = new Map(
  [...page.matchAll(/^### `(\w+)`\n\n```text\n([\s\S]*?)```/gm)].map(([, name = '', signature = '']) => [
    name,
    oneLine(signature),
  ]),
)
const listedPrivate = [...(page.split('\n## Private\n')[1] ?? '').matchAll(/^- `(\w+)`:/gm)].map(
  ([, name]) => name,
)

const names = (routines: Routine[]) => routines.map(({ name }) => name)

describe('docs/reference/sql-functions.md', () => {
  it('lists as private exactly the functions whose file says so', () => {
    const marked = names(functions.filter(({ isMarkedPrivate }) => isMarkedPrivate))
    const listed = names(functions).filter((name) => listedPrivate.includes(name))
    expect(listed).toEqual(marked)
  })

  it('documents every other function of sql/functions', () => {
    const open = names(functions.filter(({ isMarkedPrivate }) => !isMarkedPrivate))
    expect(names(functions).filter((name) => documented.has(name))).toEqual(open)
  })

  it('documents or lists as private every function of sql/core, and none of them twice', () => {
    const places = names(core).map((name) => [
      name,
      Number(documented.has(name)) + listedPrivate.filter((listed) => listed === name).length,
    ])
    expect(places.filter(([, count]) => count !== 1)).toEqual([])
  })

  it('names no function that is not there', () => {
    const known = names([...functions, ...core])
    expect([...documented.keys(), ...listedPrivate].filter((name) => !known.includes(name ?? ''))).toEqual([])
  })

  it('shows the signatures of the files', () => {
    const signatures = [...functions, ...core]
      .filter(({ name }) => documented.has(name))
      .map(({ name, signature }) => [name, signature] as const)
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(signatures))
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
