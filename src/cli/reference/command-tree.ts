// The commands as data, read from commander's own objects: help, completion and the reference page say the same.
import type { EventEmitter } from 'node:events'
import { type Command, Help, type Option } from 'commander'
import { exitCodes } from '../../errors/index.ts'

/** Every command that does something, in the order of the help; those that only group others are left out. */
export function leafCommands(program: Command): Command[] {
  return program.commands.flatMap((command) =>
    command.commands.length > 0 ? leafCommands(command) : [command],
  )
}

/** `unstuck jobs list` */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

export function optionsOf(command: Command): Option[] {
  return new Help().visibleOptions(command)
}

/** Commander refuses a command without a required option, and does not tell of it before. */
export function describeOption(option: Option): string {
  const told = new Help().optionDescription(option)
  return option.mandatory ? `${told} (required)` : told
}

/** What the help says behind the options. */
export function afterHelp(command: Command): string {
  let text = ''
  // It is an emitter, which its types do not say.
  ;(command as Command & Pick<EventEmitter, 'emit'>).emit('afterHelp', {
    command,
    error: false,
    write: (more: string) => {
      text += more
    },
  })
  return text
}

export function exampleOf(command: Command): string | undefined {
  return /^ {2}\$ (.*)$/m.exec(afterHelp(command))?.[1]
}

export interface ExitNote {
  code: number
  meaning: string
}

const NOTE = /; exit code (\d+) (.*)$/

/** A description may end in `; exit code 1 where …`: it goes to the list of exit codes. */
export function takeExitNote(command: Command): ExitNote | undefined {
  const description = command.description()
  const [note, code, meaning] = NOTE.exec(description) ?? []
  if (note === undefined) return undefined
  command.description(description.slice(0, -note.length))
  return { code: Number(code), meaning: (meaning ?? '').replace(/^where /, '') }
}

const whatever = new Map<number, string>([
  [exitCodes.fine, 'fine'],
  [exitCodes.problemFound, 'a problem was found, or nothing is installed'],
  [exitCodes.usage, 'wrong usage or configuration'],
  [exitCodes.databaseUnreachable, 'the database does not answer'],
  [exitCodes.refused, 'refused: a right, a mode or a state stands in the way'],
  [exitCodes.interrupted, 'interrupted'],
])

/** Which exit codes a command has: the general ones, and its own note instead of one of them. */
export function exitNotesOf(command: Command, note: ExitNote | undefined): ExitNote[] {
  const hasConnection = command.options.some(({ long }) => long === '--database-url')
  const codes = hasConnection ? [...whatever.keys()] : [exitCodes.fine, exitCodes.usage]
  if (note !== undefined && !codes.includes(note.code)) codes.push(note.code)
  return codes
    .toSorted((a, b) => a - b)
    .map((code) => ({
      code,
      meaning: code === note?.code ? note.meaning : (whatever.get(code) ?? ''),
    }))
}

export function exitText(notes: ExitNote[]): string {
  const lines = notes.map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`)
  return `Exit codes:\n${lines.join('\n')}\n`
}
