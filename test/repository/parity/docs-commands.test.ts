// Commands that the documentation shows exist, with their subcommands and their flags.
import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { createProgram } from '../../../src/cli/program.ts'

const root = new URL('../../../', import.meta.url)
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.replaceAll('\\', '/')}`),
]

/** In shell blocks and in text: `unstuck reap --once`. What follows an ellipsis or a pipe is not looked at. */
function commandsOf(page: string): string[] {
  const text = readFileSync(new URL(page, root), 'utf8')
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, code = '']) => code)
  const spans = [...text.matchAll(/(?<!`|named )`(unstuck [a-z][^`\n]*)`/g)].map(([, code = '']) => code)
  const lines = [...blocks.flatMap((code) => code.replaceAll('\\\n', ' ').split('\n')), ...spans]
  return lines.flatMap((line) => /(?:^|\s)(unstuck [a-z].*)$/.exec(line.replace(/\s#.*/, ''))?.[1] ?? [])
}

/** Null where it is fine. */
function problemOf(line: string, program: Command): string | null {
  let command = program
  const [, ...words] = line.split(/\s*[|>…(]/, 1)[0]?.split(/\s+/) ?? []
  for (const word of words) {
    if (word.startsWith('--')) {
      const flag = word.split('=', 1)[0] ?? ''
      if (!command.options.some(({ long }) => long === flag)) return `${line}: no ${flag}`
    } else if (command.commands.length > 0) {
      const next = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word))
      if (next === undefined) return `${line}: no ${word}`
      command = next
    }
  }
  return null
}

const program = await createProgram()

it('finds a command, a subcommand and a flag that do not exist', () => {
  expect(problemOf('unstuck reap --once', program)).toBeNull()
  expect(problemOf('unstuck reep', program)).toContain('no reep')
  expect(problemOf('unstuck jobs retri 1', program)).toContain('no retri')
  expect(problemOf('unstuck reap --twice', program)).toContain('no --twice')
})

it.each(pages)('%s shows commands that exist', (page) => {
  const problems = commandsOf(page).map((line) => problemOf(line, program))
  expect(problems.filter((problem) => problem !== null)).toEqual([])
})

it.each(pages)('OPS-8 %s asks nobody to fetch a package that is not published', (page) => {
  const text = readFileSync(new URL(page, root), 'utf8')
  if (/npx unstuck|npm install unstuck/.test(text)) expect(text).toMatch(/not published yet/)
})
