import { type ChildProcess, spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ChildResult, type SpawnOptions, spawnChild } from './spawn-child.ts'

const FIXTURES = new URL('../../../test/surface/fixtures-spawn/', import.meta.url)
const FAMILY = fileURLToPath(new URL('family.mjs', FIXTURES))
const WORKER = fileURLToPath(new URL('worker.mjs', FIXTURES))
const UNNAMED_CHILD = fileURLToPath(new URL('unnamed-child.mjs', FIXTURES))
const IS_LINUX = process.platform === 'linux'
const LONG_MS = 60_000
const BOUND = { timeout: 30_000, interval: 10 }

let folder: string
let controller: AbortController
let strays: ChildProcess[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-spawn-'))
  controller = new AbortController()
  strays = []
})

afterEach(() => {
  for (const stray of strays) stray.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function runNode(code: string, options: Partial<SpawnOptions> = {}): Promise<ChildResult> {
  return spawnChild(process.execPath, ['-e', code], { signal: controller.signal, ...options })
}

function runFamily(manner: 'obey' | 'refuse', killGraceMs: number): Promise<ChildResult> {
  return spawnChild(process.execPath, [FAMILY, folder, manner], { signal: controller.signal, killGraceMs })
}

function familyPids(): Promise<number[]> {
  return Promise.all(['child.pid', 'grandchild.pid'].map(async (name) => Number(await note(name))))
}

async function note(name: string): Promise<string> {
  await vi.waitUntil(() => existsSync(join(folder, name)), BOUND)
  return readFileSync(join(folder, name), 'utf8')
}

/** The dead who wait to be reaped do not run: after its worker's death a process is reaped by whatever is process 1. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !IS_LINUX || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function childrenOfThisProcess(): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && parentOf(name) === process.pid
    } catch {
      return false
    }
  })
}

function parentOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

async function refusalOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  return error as Error
}

describe('the end of a child', () => {
  it('resolves with the exit code and all the output of a child that ends well', async () => {
    const result = await runNode('console.log("out"); console.error("err")')
    expect(result).toEqual({
      exitCode: 0,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      stdoutTruncated: false,
      stderrTruncated: false,
      durationMs: expect.any(Number),
    })
    expect(result.durationMs).toBeGreaterThan(0)
  })

  it.each([1, 127, 130, 143])('resolves with the exit code %i: a non-zero exit is no error', async (code) => {
    expect(await runNode(`process.exit(${code})`)).toMatchObject({ exitCode: code, signal: null })
  })

  it.each(['SIGKILL', 'SIGTERM', 'SIGSEGV'])('reports the signal %s that ended the child', async (signal) => {
    const result = await runNode(`process.kill(process.pid, '${signal}'); setInterval(() => 0, 1000)`)
    expect(result).toMatchObject({ exitCode: null, signal })
  })

  it('runs the child in the folder and with the environment it is given', async () => {
    const code = 'console.log(process.cwd(), process.env["odd.name"], process.env.HOME)'
    const result = await runNode(code, { cwd: folder, env: { 'odd.name': 'kept' } })
    expect(result.stdout).toMatch(/unstuck-spawn-\S+ kept undefined\n$/)
  })

  it('gives the child no input, an empty one, or what onStart writes', async () => {
    const echo = 'process.stdin.pipe(process.stdout)'
    expect((await runNode(echo)).stdout).toBe('')
    expect((await runNode(echo, { stdin: 'pipe' })).stdout).toBe('')
    const onStart: SpawnOptions['onStart'] = ({ stdin }) => stdin?.end('hello')
    expect((await runNode(echo, { stdin: 'pipe', onStart })).stdout).toBe('hello')
  })

  it('survives a child that does not read its input', async () => {
    const onStart: SpawnOptions['onStart'] = ({ stdin }) => stdin?.end(Buffer.alloc(4_000_000))
    expect(await runNode('process.exit(3)', { stdin: 'pipe', onStart })).toMatchObject({ exitCode: 3 })
  })
})

describe('a child that cannot be started', () => {
  it('rejects with ENOENT and names the command but not the arguments', async () => {
    const error = await refusalOf(spawnChild('no-such-program', ['secret'], { signal: controller.signal }))
    expect(error).toMatchObject({ code: 'ENOENT', message: expect.stringContaining('no-such-program') })
    expect(inspect(error)).not.toContain('secret')
  })

  it('rejects with EACCES where the file may not be run', async () => {
    const file = join(folder, 'plain.txt')
    writeFileSync(file, 'text')
    chmodSync(file, 0o644)
    const error = await refusalOf(spawnChild(file, [], { signal: controller.signal }))
    expect(error).toMatchObject({ code: 'EACCES', message: expect.stringContaining(file) })
  })

  it('says so where it is the folder that is missing', async () => {
    const cwd = join(folder, 'missing')
    const error = await refusalOf(runNode('', { cwd }))
    expect(error).toMatchObject({ code: 'ENOENT', message: expect.stringContaining(cwd) })
  })

  it('keeps an argument with a NUL byte out of the message that refuses it', async () => {
    const run = spawnChild(process.execPath, ['sec\0ret'], { signal: controller.signal })
    expect((await refusalOf(run)).message).not.toContain('sec')
  })

  it.each([
    { killGraceMs: Number.NaN },
    { killGraceMs: 2 ** 31 },
    { killGraceMs: -1 },
    { maxOutputBytes: -1 },
  ])('refuses %o', async (options) => {
    expect(await refusalOf(runNode('', options))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('output', () => {
  it('keeps the tail of each stream and says that it was cut', async () => {
    const code = 'process.stdout.write("a".repeat(5000000) + "end"); process.stderr.write("short")'
    const result = await runNode(code, { maxOutputBytes: 1000 })
    expect(result.stdout).toBe(`${'a'.repeat(997)}end`)
    expect(result).toMatchObject({ stdoutTruncated: true, stderr: 'short', stderrTruncated: false })
  })

  it('keeps 1 MiB where no limit is given', async () => {
    const result = await runNode('process.stdout.write("a".repeat(1024 * 1024 + 1))')
    expect(result.stdout).toHaveLength(1024 * 1024)
    expect(result.stdoutTruncated).toBe(true)
  })

  it('keeps nothing with a limit of 0, and all of what just fits', async () => {
    const code = 'process.stdout.write("12345")'
    expect(await runNode(code, { maxOutputBytes: 0 })).toMatchObject({ stdout: '', stdoutTruncated: true })
    expect(await runNode(code, { maxOutputBytes: 5 })).toMatchObject({
      stdout: '12345',
      stdoutTruncated: false,
    })
  })

  it('does not begin in the middle of a character', async () => {
    const result = await runNode('process.stdout.write("€€€")', { maxOutputBytes: 5 })
    expect(result).toMatchObject({ stdout: '€', stdoutTruncated: true })
  })

  it('hands over lines however they end and however they are cut into chunks', async () => {
    const lines: string[] = []
    const parts = ['one\\r', '\\ntwo\\nframe=1\\rframe=2\\r', '\\n\\nlast']
    const code = `const parts = ${JSON.stringify(parts.map((part) => JSON.parse(`"${part}"`)))}
      const next = () => parts.length && process.stdout.write(parts.shift(), () => setImmediate(next)); next()`
    await runNode(code, { onStdout: (line) => lines.push(line) })
    expect(lines).toEqual(['one', 'two', 'frame=1', 'frame=2', '', 'last'])
  })

  it('ends the child and rejects with what a callback threw', async () => {
    const thrown = new Error('the handler does not like this line')
    const onStderr = (): never => {
      throw thrown
    }
    const run = runNode('console.error("line"); setInterval(() => 0, 1000)', { onStderr })
    await expect(run).rejects.toBe(thrown)
  })
})

describe('abort', () => {
  it('rejects at once and starts nothing where the signal is already aborted', async () => {
    const reason = new Error('lease lost')
    controller.abort(reason)
    const onStart = vi.fn()
    await expect(runNode('', { onStart })).rejects.toBe(reason)
    expect(onStart).not.toHaveBeenCalled()
  })

  it('starts nothing where the abort comes while the watchdog starts', async () => {
    const onStart = vi.fn()
    const run = runNode('', { onStart })
    controller.abort(new Error('lease lost'))
    await expect(run).rejects.toThrow('lease lost')
    expect(onStart).not.toHaveBeenCalled()
  })

  it('C17 lets child and grandchild clean up on SIGTERM, and rejects with the reason after both are gone', async () => {
    const reason = new Error('lease lost')
    const run = refusalOf(runFamily('obey', LONG_MS))
    const pids = await familyPids()
    controller.abort(reason)
    expect(await run).toBe(reason)
    expect(pids.map(isRunning)).toEqual([false, false])
    expect(existsSync(join(folder, 'child.terminated'))).toBe(true)
    expect(existsSync(join(folder, 'grandchild.terminated'))).toBe(true)
  })

  it('C17 kills a group that ignores SIGTERM once the grace is over', async () => {
    const run = refusalOf(runFamily('refuse', 200))
    const pids = await familyPids()
    const abortedAt = performance.now()
    controller.abort()
    expect(await run).toMatchObject({ name: 'AbortError' })
    expect(performance.now() - abortedAt).toBeGreaterThan(190)
    expect(pids.map(isRunning)).toEqual([false, false])
  })

  it('C17 waits for a grandchild that outlives the child', async () => {
    const pids: number[] = []
    const onStdout = (line: string): void => {
      pids.push(Number(line))
      controller.abort(new Error('enough'))
    }
    const script = "trap '' TERM; sleep 600 & trap - TERM; echo $!; wait"
    const options = { signal: controller.signal, killGraceMs: 300, onStdout }
    const startedAt = performance.now()
    expect((await refusalOf(spawnChild('/bin/sh', ['-c', script], options))).message).toBe('enough')
    expect(performance.now() - startedAt).toBeGreaterThan(290)
    expect(pids.map(isRunning)).toEqual([false])
  })

  it('C17 ends what a child left running in its group when it ended by itself', async () => {
    const script = 'sleep 600 & echo $!; exit 7'
    const result = await spawnChild('/bin/sh', ['-c', script], { signal: controller.signal })
    expect(result.exitCode).toBe(7)
    expect(isRunning(Number(result.stdout))).toBe(false)
  })

  it('is not held up by a process that left the group and holds the output', async () => {
    const code = `const { spawn } = require('node:child_process')
      const stray = spawn('sleep', ['600'], { detached: true, stdio: 'inherit' })
      console.log(stray.pid); stray.unref()`
    const result = await runNode(code)
    expect(result.exitCode).toBe(0)
    expect(isRunning(Number(result.stdout))).toBe(true)
    process.kill(Number(result.stdout), 'SIGKILL')
  })

  it('leaves no listener on the signal, however the child ended', async () => {
    await runNode('')
    await refusalOf(spawnChild('no-such-program', [], { signal: controller.signal }))
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })
})

describe('the death of the worker', () => {
  function startWorker(manner: 'obey' | 'refuse', killGraceMs: number): ChildProcess {
    const worker = spawn(process.execPath, [WORKER, folder, manner, String(killGraceMs)], {
      stdio: ['pipe', 'inherit', 'inherit'],
    })
    strays.push(worker)
    return worker
  }

  async function expectFamilyToEnd(pids: number[]): Promise<void> {
    await vi.waitUntil(() => !pids.some(isRunning), BOUND)
  }

  it('C17 child and grandchild get SIGTERM and end when the worker is killed with SIGKILL', async () => {
    const worker = startWorker('obey', LONG_MS)
    const pids = await familyPids()
    worker.kill('SIGKILL')
    await expectFamilyToEnd(pids)
    expect(existsSync(join(folder, 'child.terminated'))).toBe(true)
    expect(existsSync(join(folder, 'grandchild.terminated'))).toBe(true)
  })

  it('C17 child and grandchild that ignore SIGTERM are killed after the grace when the worker is killed', async () => {
    const worker = startWorker('refuse', 300)
    const pids = await familyPids()
    worker.kill('SIGKILL')
    await note('child.terminated')
    await expectFamilyToEnd(pids)
  })

  it('C17 child and grandchild end when the worker leaves by itself while they run', async () => {
    const worker = startWorker('obey', LONG_MS)
    const pids = await familyPids()
    worker.stdin?.end()
    expect(await once(worker, 'exit')).toEqual([0, null])
    await expectFamilyToEnd(pids)
  })

  it('C17 a frozen worker keeps its child', async () => {
    const worker = startWorker('obey', LONG_MS)
    const pids = await familyPids()
    worker.kill('SIGSTOP')
    const stat = `/proc/${worker.pid}/stat`
    if (IS_LINUX) await vi.waitUntil(() => /\) T /.test(readFileSync(stat, 'latin1')), BOUND)
    expect(pids.map(isRunning)).toEqual([true, true])
    worker.kill('SIGKILL')
    await expectFamilyToEnd(pids)
  })
})

describe('the watchdog', () => {
  const shells = ['/bin/sh', '/bin/dash', '/bin/bash'].filter((path) => existsSync(path))

  async function expectChildToEnd(shell: string, told: 'told' | 'untold'): Promise<void> {
    const worker = spawn(process.execPath, [UNNAMED_CHILD, folder, shell, told], { stdio: 'inherit' })
    strays.push(worker)
    const pid = Number(await note('child.pid'))
    expect(isRunning(pid)).toBe(true)
    worker.kill('SIGKILL')
    await vi.waitUntil(() => !isRunning(pid), BOUND)
  }

  it.each(shells)('C17 ends the group it was told of when it runs in %s', async (shell) => {
    await expectChildToEnd(shell, 'told')
  })

  it.runIf(IS_LINUX).each(shells)(
    'C17 finds the child of a worker that died before it could name it when it runs in %s',
    async (shell) => {
      await expectChildToEnd(shell, 'untold')
    },
  )
})

describe.runIf(IS_LINUX)('many children', () => {
  it('C17 50 in a row leave no process, no zombie and no descriptor behind', async () => {
    const run = async (): Promise<void> => {
      await spawnChild('/bin/sh', ['-c', 'echo out'], { signal: controller.signal, stdin: 'pipe' })
      await refusalOf(spawnChild('no-such-program', [], { signal: controller.signal }))
    }
    await run()
    const openBefore = readdirSync('/proc/self/fd').length
    const childrenBefore = childrenOfThisProcess()
    for (let count = 0; count < 50; count += 1) await run()
    expect(childrenOfThisProcess()).toEqual(childrenBefore)
    await vi.waitUntil(() => readdirSync('/proc/self/fd').length <= openBefore, BOUND)
  })
})
