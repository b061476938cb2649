import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { instruments } from '../../../../src/observe/metrics/instruments.ts'

const repository = new URL('../../../../', import.meta.url)

/** The cells of the table that follows a heading, without its head. */
function readTable(page: string, heading: string): string[][] {
  const text = readFileSync(new URL(`docs/reference/${page}`, repository), 'utf8')
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const code = (text: string) => `\`${text}\``

describe('docs/reference/metrics.md', () => {
  it('SEE-2 lists every metric with its names, kind, labels and meaning, and no other', () => {
    const expected = Object.values(instruments).map(({ prometheus, otel, kind, labels, help }) => [
      code(prometheus),
      code(otel),
      kind,
      labels.map(code).join(' '),
      help,
    ])
    expect(readTable('metrics.md', 'All metrics')).toEqual(expected)
  })

  it('SEE-2 no two metrics have the same name, and counters are named as such', () => {
    const all = Object.values(instruments)
    expect(new Set(all.map(({ prometheus }) => prometheus)).size).toBe(all.length)
    expect(new Set(all.map(({ otel }) => otel)).size).toBe(all.length)
    for (const { kind, prometheus } of all) expect(prometheus.endsWith('_total')).toBe(kind === 'counter')
  })
})

describe('docs/reference/events.md', () => {
  it('SEE-1 lists every runtime event with its fields, and no other', () => {
    const listed = readTable('events.md', 'Events').map(([event, fields]) => [event, fields])
    expect(listed).toEqual(declaredEvents().map(([name, fields]) => [code(name), fields.map(code).join(' ')]))
  })
})

/** The names and fields that the interface `RuntimeEvents` declares. */
function declaredEvents(): [name: string, fields: string[]][] {
  const text = readFileSync(new URL('src/observe/events.ts', repository), 'utf8')
  const source = ts.createSourceFile('events.ts', text, ts.ScriptTarget.Latest, true)
  const declared = source.statements
    .filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === 'RuntimeEvents')
  return propertiesOf(declared?.members).map((member) => [
    nameOf(member),
    member.type !== undefined && ts.isTypeLiteralNode(member.type)
      ? propertiesOf(member.type.members).map(nameOf)
      : [],
  ])
}

function propertiesOf(members: Iterable<ts.TypeElement> = []): ts.PropertySignature[] {
  return [...members].flatMap((member) => (ts.isPropertySignature(member) ? [member] : []))
}

function nameOf({ name }: ts.PropertySignature): string {
  return ts.isStringLiteral(name) || ts.isIdentifier(name) ? name.text : ''
}
