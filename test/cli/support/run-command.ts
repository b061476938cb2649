// Runs a command as a process with arguments, an environment and an exit code.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../../bin/unstuck.js', import.meta.url))

export interface CommandResult {
  exitCode: number | null
  stdout: string
  stderr: string
}

export interface RunningCommand {
  pid: number
  result: Promise<CommandResult>
  kill(signal: NodeJS.Signals): void
  /** Settles when stdout contains this text. */
  said(text: string): Promise<void>
  /** Settles with the group of the pattern once stdout matches it. */
  told(pattern: RegExp): Promise<string>
  /** Called with each line of stderr. */
  onProgress(listener: (line: string) => void): void
}

export function startCommand(
  args: string[],
  env: Record<string, string> = {},
  cwd: string = process.cwd(),
): RunningCommand {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    // The command gets only the part of the environment that Node needs.
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const result = new Promise<CommandResult>((resolve) => {
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
  const until = <Found>(find: () => Found | undefined, what: string) =>
    new Promise<Found>((resolve, reject) => {
      const look = () => {
        const found = find()
        if (found !== undefined) resolve(found)
      }
      child.stdout.on('data', look)
      child.once('close', () => reject(new Error(`ended without saying ${what}: ${stdout}${stderr}`)))
      look()
    })
  return {
    pid: child.pid ?? 0,
    result,
    kill: (signal) => child.kill(signal),
    onProgress(listener) {
      createInterface({ input: child.stderr }).on('line', listener)
    },
    said: async (text) => void (await until(() => stdout.includes(text) || undefined, text)),
    told: (pattern) => until(() => pattern.exec(stdout)?.[1], String(pattern)),
  }
}

export function runCommand(
  args: string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<CommandResult> {
  return startCommand(args, env, cwd).result
}
