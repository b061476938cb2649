// What goes to stdout is data; progress goes to stderr.
import { once } from 'node:events'

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

export function printLine(line = ''): void {
  process.stdout.write(`${line}\n`)
}

export function printProgress(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** A line per step; none with --json, where stderr holds nothing but an error. */
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

/** Columns as wide as their widest cell, two spaces apart. */
export function printTable(rows: string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows) {
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

/** For output without end: waits while the reader is slower. */
export async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
