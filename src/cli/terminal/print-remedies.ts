import type { Remedy } from '../../policy/explain/reason.ts'
import { printLine, printTable, printWrapped } from './output.ts'

/** Each command with its effect beside it, or below it in a terminal that is too narrow: a command is copied whole. */
export function printRemedies(remedies: readonly Remedy[]): void {
  const rows = [...new Map(remedies.map(({ command, effect }) => [`Next:  ${command}`, effect]))]
  if (rows.length === 0) return
  const widest = (texts: string[]) => Math.max(...texts.map((text) => text.length))
  const width = widest(rows.map(([next]) => next)) + widest(rows.map(([, effect]) => effect))
  const { isTTY, columns } = process.stdout
  if (!isTTY || width + 2 <= columns) return printTable(rows)
  for (const [next, effect] of rows) {
    printLine(next)
    printWrapped(`       ${effect}`, 7)
  }
}
