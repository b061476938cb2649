import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from './program.ts'
import { leafCommands, optionsOf, pathOf } from './reference/command-tree.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

async function commandAt(path: string): Promise<Command> {
  const found = leafCommands(await createProgram()).find((command) => pathOf(command) === path)
  return found ?? expect.unreachable(`there is no ${path}`)
}

describe('the command', () => {
  it.each(['--version', '-V'])('OPS-8 %s prints the version of the package, and ends well', async (flag) => {
    let printed = ''
    const program = (await createProgram()).configureOutput({
      writeOut: (text) => {
        printed += text
      },
    })
    await expect(program.parseAsync(['node', 'unstuck', flag])).rejects.toMatchObject({ exitCode: 0 })
    expect(printed).toBe(`${version}\n`)
  })

  it('OPS-8 the help marks every option without which a command is refused', async () => {
    const marked = leafCommands(await createProgram()).flatMap((command) =>
      optionsOf(command)
        .filter(({ mandatory }) => mandatory)
        .map(({ flags }) => {
          const line = command.helpInformation().replaceAll(/\n {6,}/g, ' ')
          expect(line).toMatch(new RegExp(`${flags} .*\\(required\\)`))
          return pathOf(command)
        }),
    )
    expect(marked).toEqual(
      expect.arrayContaining(['unstuck jobs retry', 'unstuck queues pause', 'unstuck workers drain']),
    )
  })

  it('OPS-9 the help of export says that --json is one object per line', async () => {
    expect((await commandAt('unstuck jobs export')).helpInformation()).toContain('one JSON object per line')
    expect((await commandAt('unstuck jobs list')).helpInformation()).toMatch(/print one JSON object$/m)
  })
})
