// Completion in real shells: each script is loaded by its shell.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { leafCommands, optionsOf, pathOf } from '../../src/cli/reference/command-tree.ts'
import { noTerminal, openTerminal } from './support/pseudo-terminal.ts'
import { runCommand } from './support/run-command.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

let folder: string
const scriptOf = (shell: string) => join(folder, `completion.${shell}`)
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-'))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exitCode, stdout } = await runCommand(['completion', shell])
    expect(exitCode).toBe(0)
    writeFileSync(scriptOf(shell), stdout)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Calls the completion function with words split as bash does. */
function askBash(typed: string[]): string[] {
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _unstuck; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync(
    'bash',
    ['--norc', '-c', program, 'bash', scriptOf('bash'), ...typed],
    {
      encoding: 'utf8',
    },
  )
  expect(stderr).toBe('')
  return stdout.split('\n').filter((word) => word !== '')
}

function askFish(line: string): string[] {
  const { stdout, stderr } = spawnSync(
    'fish',
    ['-c', `source $argv[1]; complete -C $argv[2]`, scriptOf('fish'), line],
    {
      encoding: 'utf8',
    },
  )
  expect(stderr).toBe('')
  return stdout
    .split('\n')
    .filter((word) => word !== '')
    .map((word) => word.split('\t')[0] ?? '')
}

const statuses = ['waiting', 'running', 'succeeded', 'dead', 'cancelled']

describe.skipIf(!isInstalled('bash'))('bash', () => {
  it.each([
    ['unstuck jo', ['jobs']],
    ['unstuck jobs ex', ['export']],
    ['unstuck jobs list --sta', ['--status', '--stage']],
    ['unstuck jobs list --status ', statuses],
    ['unstuck jobs list --status = wa', ['waiting']],
    ['unstuck mode ', ['observe', 'reap', 'enforce']],
    ['unstuck completion f', ['fish']],
    ['unstuck jobs get ', []],
    ['unstuck jobs list --queue ', []],
  ])('OPS-8 %s is completed', (line, found) => {
    expect(askBash(line.split(' '))).toEqual(found)
  })

  it('OPS-8 every command is offered, and every option of each', async () => {
    for (const command of leafCommands(await createProgram())) {
      const path = pathOf(command).split(' ')
      expect(askBash(path)).toContain(path.at(-1))
      expect(askBash([...path, '--'])).toEqual(optionsOf(command).map(({ long }) => long))
    }
  }, 120_000)

  // python3 brings the pseudo terminal.
  it.skipIf(noTerminal !== null)(
    'OPS-8 a press of Tab in a terminal writes the rest of the word',
    async () => {
      const bash = openTerminal(['--norc', '--noprofile', '-i'], {
        command: ['bash'],
      })
      await bash.shown(/[$#] /)
      bash.type(`source ${scriptOf('bash')} && echo loa''ded\n`)
      await bash.shown('loaded')
      bash.type('unstuck jobs list --stat\twai\t')
      await bash.shown('unstuck jobs list --status waiting')
      bash.type('\u0015exit\n')
      await bash.ended
    },
  )
})

// Skipped where the shell is missing.
describe.skipIf(!isInstalled('fish'))('fish', () => {
  it('OPS-8 commands, options and choices are completed, and ids are not', () => {
    expect(askFish('unstuck jo')).toEqual(['jobs'])
    expect(askFish('unstuck jobs ')).toEqual(expect.arrayContaining(['list', 'get', 'export', 'retry']))
    expect(askFish('unstuck jobs list --stat')).toEqual(['--status'])
    expect(new Set(askFish('unstuck jobs list --status '))).toEqual(new Set(statuses))
    expect(askFish('unstuck jobs get ')).toEqual([])
  })
})

describe.skipIf(!isInstalled('zsh') || noTerminal !== null)('zsh', () => {
  it('OPS-8 commands, options and choices are completed', async () => {
    const zsh = openTerminal(['-f', '-i'], { command: ['zsh'], cwd: folder })
    await zsh.shown(/[%#] /)
    zsh.type(`autoload -U compinit && compinit -u -D && source ${scriptOf('zsh')} && echo loa''ded\n`)
    await zsh.shown('loaded')
    zsh.type('unstuck jobs exp\t')
    await zsh.shown('unstuck jobs export')
    zsh.type('--for\tcs\t')
    // The shell removes the space it has added.
    await zsh.shown(/--format[\b ]+csv/)
    zsh.type('\u0015unstuck jobs list --status \t')
    await zsh.shown('cancelled')
    zsh.type('\u0015exit\n')
    await zsh.ended
  })
})

it('OPS-8 a shell that it has no script for is refused with those it has', async () => {
  const { exitCode, stderr } = await runCommand(['completion', 'tcsh'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('bash, zsh, fish')
})
