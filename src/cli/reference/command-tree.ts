// Commands as data, read from commander: help, completion and the reference page share it.
import type { EventEmitter } from 'node:events'
import { type Command, Help, type Option } from 'commander'
import { exitCodes } from '../../errors/index.ts'

/** Every command with an action, in the order of the help, without groups. */
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

/** Commander does not mark required options in the help. */
export function describeOption(option: Option): string {
  const description = new Help().optionDescription(option)
  return option.mandatory ? `${description} (required)` : description
}

/** The help text after the options. */
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

/** A description may end in `; exit code 1 if …`, which moves to the list of exit codes. */
export function takeExitNote(command: Command): ExitNote | undefined {
  const description = command.description()
  const [note, code, meaning] = NOTE.exec(description) ?? []
  if (note === undefined) return undefined
  command.description(description.slice(0, -note.length))
  return { code: Number(code), meaning: (meaning ?? '').replace(/^if /, '') }
}

const generalMeanings = new Map<number, string>([
  [exitCodes.fine, 'success'],
  [exitCodes.problemFound, 'a problem was found, or nothing is installed'],
  [exitCodes.usage, 'wrong usage or configuration'],
  [exitCodes.databaseUnreachable, 'database unreachable'],
  [exitCodes.refused, 'missing permission, wrong mode or wrong state'],
  [exitCodes.interrupted, 'interrupted'],
])

/** The general exit codes; a command's own note replaces one of them. */
export function exitNotesOf(command: Command, note: ExitNote | undefined): ExitNote[] {
  const hasConnection = command.options.some(({ long }) => long === '--database-url')
  const codes = hasConnection ? [...generalMeanings.keys()] : [exitCodes.fine, exitCodes.usage]
  if (note !== undefined && !codes.includes(note.code)) codes.push(note.code)
  return codes
    .toSorted((a, b) => a - b)
    .map((code) => ({
      code,
      meaning: code === note?.code ? note.meaning : (generalMeanings.get(code) ?? ''),
    }))
}

export function exitText(notes: ExitNote[]): string {
  const lines = notes.map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`)
  return `Exit codes:\n${lines.join('\n')}\n`
}
