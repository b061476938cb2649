// Runs a command in a pseudo-terminal, provided by Python: Node has none.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'

const relay = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url))
const bin = fileURLToPath(new URL('../../../bin/unstuck.js', import.meta.url))

/** Why there is no pseudo-terminal, or null. */
export const noTerminal =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? null : 'python3 is not installed'

export interface TerminalOptions {
  env?: Record<string, string>
  cwd?: string
  rows?: number
  columns?: number
  /** Run instead of unstuck. */
  command?: string[]
}

export interface Terminal {
  /** Raw output. */
  raw: () => string
  type(keys: string): void
  kill(signal: NodeJS.Signals): void
  /** Settles when the screen has shown this text after the last key. */
  shown(text: string | RegExp): Promise<void>
  ended: Promise<number | null>
}

export function openTerminal(args: string[], options: TerminalOptions = {}): Terminal {
  const { env = {}, cwd = process.cwd(), rows = 30, columns = 120 } = options
  const command = options.command ?? [process.execPath, bin]
  const child = spawn('python3', [relay, String(rows), String(columns), ...command, ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // When it ends, the command loses its terminal and ends too.
  onTestFinished(() => void child.kill('SIGKILL'))
  let raw = ''
  let from = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text
  })
  child.stdin.on('error', () => {})
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const isShown = (text: string | RegExp) => {
    const screen = stripVTControlCharacters(raw.slice(from))
    return typeof text === 'string' ? screen.includes(text) : text.test(screen)
  }
  return {
    raw: () => raw,
    type(keys) {
      from = raw.length
      child.stdin.write(keys)
    },
    kill: (signal) => child.kill(signal),
    shown: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (isShown(text)) resolve()
        }
        child.stdout.on('data', look)
        void ended.then((code) =>
          reject(new Error(`ended with ${code} before showing ${String(text)}: ${raw}`)),
        )
        look()
      }),
    ended,
  }
}
