// An example as its README starts it: one command, and what it prints.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface ExampleProcess {
  lines: string[]
  /** The first line that fits, past ones included. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  ended: Promise<number | null>
  /** Settles when it has ended by itself, with exit code 0. */
  finished(): Promise<void>
}

export interface ExampleOptions {
  args?: string[]
  env?: Record<string, string>
}

/** Ended with the test, with everything it has started. */
export function startExample(script: string, { args = [], env = {} }: ExampleOptions): ExampleProcess {
  const child = spawn(process.execPath, [join('examples', script), ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const listeners = new Set<() => void>()
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line)
      for (const listener of listeners) listener()
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return {
    lines,
    ended,
    kill: (signal) => child.kill(signal),
    async finished() {
      const exitCode = await ended
      if (exitCode !== 0) throw new Error(`ended with ${exitCode}:\n${lines.join('\n')}`)
    },
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null)
          if (found !== undefined && found !== null) resolve(found)
        }
        listeners.add(look)
        void ended.then(() => reject(new Error(`ended without saying ${pattern}:\n${lines.join('\n')}`)))
        look()
      }),
  }
}

/** For the files of an example, and for its database where it starts one: as root that belongs to another user. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-example-'))
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Dropped when the test has ended, after the example that used it. */
export async function makeDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  return database
}

/** The dead who wait to be reaped by process 1 do not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
