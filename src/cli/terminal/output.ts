// Stdout is data; progress goes to stderr. Every line of text goes through here and is escaped.
import { once } from 'node:events'
import { createPaint } from './colour.ts'
import { escapeControls, safeJson } from './escape-controls.ts'
import { fitTable, type TableFit } from './fit-table.ts'
import { type Line, renderLine, wrapText } from './line.ts'

export function printJson(value: unknown): void {
  process.stdout.write(`${safeJson(value)}\n`)
}

/** Colour comes from the pieces of a line: in a string it would be escaped. */
export function printLine(line: string | Line = '', width = Number.POSITIVE_INFINITY): void {
  const pieces = typeof line === 'string' ? [line] : line
  process.stdout.write(`${renderLine(pieces, width, createPaint(process.stdout)).trimEnd()}\n`)
}

/** A sentence, broken between words in a terminal; later lines start with `indent` spaces. */
export function printWrapped(text: string, indent: number): void {
  for (const line of terminalLines(text, indent)) printLine(line)
}

export function terminalLines(text: string, indent: number): string[] {
  const { isTTY, columns } = process.stdout
  return isTTY ? wrapText(text, columns, indent) : [text]
}

/** Keeps the line ends of the text. */
export function printLines(text: string): void {
  for (const line of text.split('\n')) printLine(line)
}

export function printProgress(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`)
}

/** A notice of the store, beside the answer of a command. */
export function printNotice({
  table,
  jobId,
  reason,
}: {
  table: string
  jobId: string | null
  reason: string
}) {
  printProgress(`unstuck: ${[table, jobId].filter((part) => part !== null).join(' ')}: ${reason}`)
}

/** Usage errors and stack traces, with or without a final line end. */
export function printErrorText(text: string): void {
  for (const line of text.replace(/\n$/, '').split('\n')) printProgress(line)
}

/** A line per step; none with --json, where stderr is for an error only. */
export function stepPrinter({ json }: { json?: boolean }): {
  steps: string[]
  onStep: (step: string) => void
} {
  const steps: string[] = []
  return {
    steps,
    onStep(step) {
      steps.push(step)
      if (json !== true) printProgress(`  ${step}`)
    },
  }
}

/** Aligned columns, two spaces apart. With `fit`, a terminal gets what fits its width, and a pipe everything. */
export function printTable(rows: string[][], fit?: TableFit): void {
  const escaped = rows.map((row) => row.map(escapeControls))
  const { isTTY, columns } = process.stdout
  const cells = fit === undefined || !isTTY ? escaped : fitTable(escaped, fit, columns)
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of cells) printLine(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}

/** For unbounded output: waits for a slow reader. Not escaped. */
export async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
