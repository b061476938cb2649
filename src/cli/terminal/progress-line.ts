// One updated line on stderr; nothing if stderr is not a terminal.
import { cutText } from './line.ts'

export interface ProgressLine {
  show(text: string): void
  /** Clears the line. */
  clear(): void
}

export function openProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!stream.isTTY || process.env['TERM'] === 'dumb') return { show: () => {}, clear: () => {} }
  return {
    show: (text) => stream.write(`\r${cutText(text, (stream.columns || 80) - 1)}\u001B[K`),
    clear: () => stream.write('\r\u001B[K'),
  }
}
