// Rules for every command; the list comes from the program itself.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { exampleOf, leafCommands, optionsOf, pathOf } from '../../src/cli/reference/command-tree.ts'
import { exitCodeOf, reportError } from '../../src/cli/report-error.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runInProcess } from './support/in-process.ts'
import { type CommandResult, startCommand } from './support/run-command.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

interface Known {
  name: string
  /** The words after `unstuck`. */
  path: string[]
  options: string[]
  example: string[]
}

const commands: Known[] = leafCommands(await createProgram()).map((command) => ({
  name: pathOf(command),
  path: pathOf(command).split(' ').slice(1),
  options: optionsOf(command).flatMap(({ long }) => long ?? []),
  example: words(exampleOf(command) ?? ''),
}))
const has = (option: string) => (command: Known) => command.options.includes(option)

/** Shell words up to a redirection. */
function words(line: string): string[] {
  const [command = ''] = line.split(' > ')
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1)
}

/** Commands that take too long, never end, or name a database in their example. */
const instead: Record<string, string[]> = {
  'unstuck scan': ['scan'],
  'unstuck events': ['events'],
  'unstuck jobs export': ['jobs', 'export'],
  'unstuck serve': ['serve', '--port', '0'],
  'unstuck enqueue': ['enqueue', 'asr', '{}'],
  'unstuck drill': ['drill', '--sweep', '--lease', '1s', '--budget', '1s'],
}
const argumentsOf = ({ name, example }: Known) => instead[name] ?? example.filter((word) => word !== '--json')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-'))
  writeFileSync(join(folder, 'handlers.js'), "export default (q) => q.handle('asr', async () => {})\n")
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** A sample of top-level and nested commands. */
const sample = commands.filter((_, index) => index % 10 === 0)

/**
 * Parses the arguments in this process, like src/cli/main.ts: a process for each takes 0.4 s of processor
 * time, so only the sample has one.
 */
async function readWords(args: string[]): Promise<CommandResult> {
  let stdout = ''
  let stderr = ''
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += String(text)
    return true
  })
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += String(text)
    return true
  })
  try {
    const program = await createProgram()
    await program.parseAsync(['node', 'unstuck', ...args])
    return { exitCode: 0, stdout, stderr }
  } catch (error) {
    reportError(error, false)
    return { exitCode: exitCodeOf(error), stdout, stderr }
  } finally {
    out.mockRestore()
    err.mockRestore()
  }
}

describe('help', () => {
  async function expectHelp({ name, path }: Known, run: typeof readWords): Promise<void> {
    const { exitCode, stdout, stderr } = await run([...path, '--help'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: ${name}`)
    expect(stdout).toMatch(new RegExp(`^Example:\n  \\$ ${name}`, 'm'))
    expect(stdout).toMatch(/^Exit codes:\n {2}0 /m)
  }

  it.each(commands)('OPS-8 $name has a help with an example and exit codes', (command) =>
    expectHelp(command, readWords),
  )
  it.concurrent.each(sample)('OPS-8 the process of $name prints that help, and leaves with 0', (command) =>
    expectHelp(command, runInProcess),
  )

  it.each(commands)('OPS-8 the example of $name has long flags that the command knows', (command) => {
    const { example, options, path } = command
    expect(example.slice(0, path.length)).toEqual(path)
    const flags = example.filter((word) => word.startsWith('-'))
    expect(options).toEqual(expect.arrayContaining(flags))
  })
})

describe('mistakes', () => {
  async function expectSuggestion(command: Known, run: typeof readWords): Promise<void> {
    const { path, options } = command
    const known = options.find((option) => option !== '--help' && option.length > 5) ?? '--help'
    const { exitCode, stdout, stderr } = await run([...argumentsOf(command), `${known}x`])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`unknown option '${known}x'`)
    expect(stderr).toMatch(/Did you mean .*--/)
    expect(stderr).toContain(`(unstuck ${path.join(' ')} --help shows its options)`)
  }

  it.each(commands)('OPS-8 $name tells what was meant by an option it does not know', (command) =>
    expectSuggestion(command, readWords),
  )
  it.concurrent.each(sample)('OPS-8 the process of $name tells that too, and leaves with 2', (command) =>
    expectSuggestion(command, runInProcess),
  )

  it.concurrent.each([
    ['jbos', 'jobs'],
    ['jobs lits', 'list'],
    ['migrate stauts', 'status'],
  ])('OPS-8 unstuck %s is asked whether %s was meant', async (given, meant) => {
    const { exitCode, stderr } = await runInProcess(given.split(' '))
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`(Did you mean ${meant}?)`)
  })

  it.concurrent('OPS-8 with --json a mistake in the words is an object too', async () => {
    const { exitCode, stdout, stderr } = await runInProcess(['jobs', 'list', '--stats', 'dead', '--json'])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'INVALID_ARGUMENT',
        message: "unknown option '--stats'",
        hint: '(Did you mean --status?)',
      },
    })
  })
})

describe.concurrent('no database', () => {
  const offline = ['unstuck config', 'unstuck migrate sql', 'unstuck demo']
  const connected = commands.filter(has('--database-url')).filter(({ name }) => !offline.includes(name))
  it.each(connected)('OPS-8 $name leaves with 3 and one line where nobody answers', async (command) => {
    const env = { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/nothing' }
    const { exitCode, stdout, stderr } = await runInProcess(argumentsOf(command), env, folder)
    expect([exitCode, stdout, stderr]).toEqual([3, '', expect.stringMatching(/^unstuck: .*\n( {9}.*\n)?$/)])
    expect(stderr).not.toContain('secret')
  })
})

describe('--json', () => {
  let database: TestDatabase
  let spare: TestDatabase
  beforeAll(async () => {
    database = await createInstalledDatabase()
    spare = await createInstalledDatabase()
  })
  afterAll(async () => {
    await database.drop()
    await spare.drop()
  })

  // These change the state that others need.
  const apart = /^unstuck (migrate|attach|detach|init|mode)/
  // It has its own tests and takes a minute.
  const offering = commands.filter(has('--json')).filter(({ name }) => name !== 'unstuck demo')
  /** Commands that run until a signal, and their output once they handle signals. */
  const endless: Record<string, string> = {
    'unstuck worker': 'worker:started',
    'unstuck reaper': '"event":"sweep"',
    'unstuck serve': '"event":"listening"',
  }

  it.concurrent.each(offering)('OPS-8 $name --json prints JSON and nothing else', async (command) => {
    const { url } = apart.test(command.name) ? spare : database
    const env = { DATABASE_URL: url }
    const args = [...argumentsOf(command), '--json']
    const running = startCommand(args, env, folder)
    const heard = endless[command.name]
    if (heard !== undefined) {
      await running.said(heard)
      running.kill('SIGTERM')
    }
    const { exitCode, stdout, stderr } = await running.result
    const said = stdout.split('\n').filter((line) => line !== '')
    for (const line of said) expect(JSON.parse(line)).toEqual(expect.any(Object))
    expect([0, 1, 2, 4]).toContain(exitCode)
    // A program reads the result somewhere.
    const problems = stderr.split('\n').filter((line) => line.startsWith('{'))
    for (const line of problems) expect(JSON.parse(line)).toHaveProperty('error.message')
    if (command.name !== 'unstuck jobs export') expect([...said, ...problems]).not.toEqual([])
  })
})
