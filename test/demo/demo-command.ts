// The demo as a process, and its leftovers.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { expect } from 'vitest'
import type { Receipt } from '../../src/demo/receipt/receipt.ts'
import { type RunningCommand, startCommand } from '../cli/support/run-command.ts'

export interface RunningDemo extends RunningCommand {
  /** Waits for this text in the output. */
  said(text: string): Promise<void>
  lines: string[]
}

/** `--speed` shortens the pauses, not leases and the promise. Port 0: other tests run in parallel. */
const quick = ['--auto', '--no-tui', '--json', '--speed', '5']

export function startDemo(args: string[], env: Record<string, string> = {}): RunningDemo {
  const command = startCommand(['demo', ...quick, ...args], env)
  const lines: string[] = []
  const heard = new Set<() => void>()
  command.onProgress((line) => {
    lines.push(line)
    for (const look of heard) look()
  })
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => lines.some((line) => line.includes(text)) && resolve()
      heard.add(look)
      look()
      void command.result.then(({ stderr }) => reject(new Error(`ended without saying ${text}: ${stderr}`)))
    })
  return { ...command, lines, said }
}

export function readReceipt(stdout: string): Receipt {
  expect(stdout.trim().split('\n')).toHaveLength(1)
  return JSON.parse(stdout) as Receipt
}

/** Processes in the demo's folder or below this process. */
export function descendantsOf(pid: number): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const found: number[] = []
  for (let parents = [pid]; parents.length > 0; ) {
    parents = rows.filter(([, parent = 0]) => parents.includes(parent)).map(([child = 0]) => child)
    found.push(...parents)
  }
  return found
}

function isRunning(pid: number): boolean {
  try {
    // A zombie has ended, though it was not reaped yet.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(isRunning), { timeout: 30_000, interval: 100 }).toEqual([])
}

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
