// Completions of each command. Job ids, queue names and the like are left out: typing must not wait for a database.
import type { Command } from 'commander'
import { optionsOf, pathOf } from './command-tree.ts'

export interface CompletionNode {
  /** `unstuck jobs list` */
  path: string
  commands: Word[]
  options: OptionWord[]
  /** Choices of its argument. */
  choices: string[]
  /** Its argument is a file. */
  takesFile: boolean
}

export interface Word {
  word: string
  about: string
}

export interface OptionWord extends Word {
  /** Null: the option takes no value. */
  value: 'text' | 'file' | string[] | null
}

export function completionNodes(program: Command): CompletionNode[] {
  return [nodeOf(program), ...program.commands.flatMap(completionNodes)]
}

const FILES = /<(file|folder|handlers)>/

function nodeOf(command: Command): CompletionNode {
  const [argument] = command.registeredArguments
  return {
    path: pathOf(command),
    commands: command.commands.map((sub) => ({ word: sub.name(), about: sub.description() })),
    options: optionsOf(command).flatMap(({ long, flags, description, argChoices }) => {
      if (long == null) return []
      const isFile = FILES.test(flags)
      const value = !/[<[]/.test(flags) ? null : (argChoices ?? (isFile ? 'file' : 'text'))
      return [{ word: long, about: description, value }]
    }),
    choices: argument?.argChoices ?? [],
    takesFile: argument !== undefined && FILES.test(`<${argument.name()}>`),
  }
}

/** Option values of all commands, grouped by completion. */
export function valueGroups(nodes: CompletionNode[]): { at: string[]; value: 'text' | 'file' | string[] }[] {
  const groups = new Map<string, { at: string[]; value: 'text' | 'file' | string[] }>()
  for (const { path, options } of nodes) {
    for (const { word, value } of options) {
      if (value === null) continue
      const key = String(value)
      const group = groups.get(key) ?? { at: [], value }
      group.at.push(`${path} ${word}`)
      groups.set(key, group)
    }
  }
  return [...groups.values()]
}
