// Full-screen mode: alternate screen, no cursor, single keys. The terminal is restored however the process ends, except by
// SIGKILL.
import type { ReadStream, WriteStream } from 'node:tty'

export interface Screen {
  readonly width: number
  readonly height: number
  /** Redraws the screen; lines beyond the height are cut. */
  draw(lines: string[]): void
  close(): void
}

export interface ScreenOptions {
  /** A key, or pasted text: `a`, `up`, `down`, `enter`, `escape`, `backspace`, `ctrl-c`. */
  onKey: (key: string) => void
  onResize?: () => void
  /** SIGTERM, SIGINT or SIGHUP, after the screen was closed. */
  onSignal: (signal: NodeJS.Signals) => void
  input?: ReadStream
  output?: WriteStream
}

const OPEN = '\u001B[?1049h\u001B[?25l\u001B[2J'
const CLOSE = '\u001B[?25h\u001B[?1049l'
const HOME = '\u001B[H'
const CLEAR_LINE = '\u001B[K'
const CLEAR_BELOW = '\u001B[J'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export function openScreen(options: ScreenOptions): Screen {
  const { onKey, onResize = () => {}, onSignal, input = process.stdin, output = process.stdout } = options
  let isOpen = true
  let drawn = ''
  const close = () => {
    if (!isOpen) return
    isOpen = false
    input.off('data', hear)
    output.off('resize', resize)
    for (const signal of signals) process.off(signal, leave)
    process.off('exit', close)
    if (input.isTTY) input.setRawMode(false)
    input.pause()
    output.write(CLOSE)
  }
  const resize = () => {
    drawn = ''
    onResize()
  }
  const leave = (signal: NodeJS.Signals) => {
    close()
    onSignal(signal)
  }
  const hear = (bytes: Buffer) => {
    for (const key of readKeys(bytes.toString('utf8'))) if (isOpen) onKey(key)
  }

  output.write(OPEN)
  // An uncaught error emits `exit` too.
  process.on('exit', close)
  for (const signal of signals) process.on(signal, leave)
  if (input.isTTY) input.setRawMode(true)
  input.on('data', hear)
  input.resume()
  output.on('resize', resize)
  return {
    get width() {
      return output.columns > 0 ? output.columns : 80
    },
    get height() {
      return output.rows > 0 ? output.rows : 24
    },
    draw(lines) {
      const shown = lines.slice(0, this.height)
      const frame = `${HOME}${shown.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`
      if (!isOpen || frame === drawn) return
      drawn = frame
      output.write(frame)
    },
    close,
  }
}

const names: Readonly<Record<string, string>> = {
  '\u001B[A': 'up',
  '\u001BOA': 'up',
  '\u001B[B': 'down',
  '\u001BOB': 'down',
  '\r': 'enter',
  '\n': 'enter',
  '\u001B': 'escape',
  '\u007F': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
}

const ESCAPE = '\u001B'
const KEY = new RegExp(String.raw`${ESCAPE}(?:\[[\d;?]*[ -/]*[@-~]|O.)?|[\s\S]`, 'gu')

/** Several keys may arrive at once. Unknown sequences are skipped. */
export function readKeys(text: string): string[] {
  const keys = text.match(KEY) ?? []
  return keys.flatMap((key) => {
    const name = names[key]
    if (name !== undefined) return [name]
    return key.length > 1 && key.startsWith('\u001B') ? [] : [key]
  })
}
