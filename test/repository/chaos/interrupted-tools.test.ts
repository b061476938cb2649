// Interrupts the tools and checks that they leave nothing behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { descendantsOf, untilGone } from '../../demo/demo-command.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const START_LIMIT_MS = 120_000

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-interrupted-'))
  // Under root the server runs as another user, which needs access to its data.
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function start(script: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

function commandsBelow(run: ChildProcess): string {
  return descendantsOf(run.pid ?? 0)
    .map((pid) => readCommand(pid))
    .join('\n')
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // Exited meanwhile.
    return ''
  }
}

describe('npm run mutants', () => {
  it('leaves no copy and no process behind when it is interrupted', { timeout: 240_000 }, async () => {
    const run = start('scripts/mutants.mjs', '--only', 'M1')
    const ended = once(run, 'exit')
    // Its own server and the suite.
    await expect
      .poll(() => commandsBelow(run), { timeout: START_LIMIT_MS, interval: 200 })
      .toContain('vitest')
    const started = descendantsOf(run.pid ?? 0)
    expect(readdirSync(folder).some((name) => name.startsWith('unstuck-mutants'))).toBe(true)
    run.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    await untilGone(started)
    expect(readdirSync(folder).filter((name) => name.startsWith('unstuck-mutants'))).toEqual([])
  })
})

describe('npm run soak', () => {
  it('reports what it measured until it is ended, and leaves nothing behind', {
    timeout: 240_000,
  }, async () => {
    const run = start('scripts/soak.mjs', '--minutes', '30', '--json')
    const ended = once(run, 'close')
    let printed = ''
    run.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
    const workers = () => commandsBelow(run).split('worker-process.js').length - 1
    await expect.poll(workers, { timeout: START_LIMIT_MS, interval: 200 }).toBe(4)
    const started = descendantsOf(run.pid ?? 0)
    run.kill('SIGTERM')
    expect(await ended).toEqual([143, null])
    const report = JSON.parse(printed) as { minutes: number; phases: unknown[] }
    expect(report).toMatchObject({ plannedMinutes: 30, isInterrupted: true })
    expect(report.minutes).toBeLessThan(10)
    expect(report.phases.at(-1)).toMatchObject({ phase: 'after', claims: 0, claimP99Ms: null })
    await untilGone(started)
    expect(readdirSync(folder)).toEqual([])
  })
})
