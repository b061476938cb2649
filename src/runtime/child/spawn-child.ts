// Runs a program for a job so that it never outlives the attempt that started it (C17).

import { type ChildProcess, type SpawnOptions as ProgramOptions, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { invalidArgument } from '../../errors/index.ts'
import { type Timer, timing } from '../timing/timing.ts'
import { pause } from '../timing/wait.ts'
import { type ChildWatchdog, isGroupAlive, signalGroup, startChildWatchdog } from './child-watchdog.ts'

export interface SpawnOptions {
  /** Ends the child and everything in its process group. */
  signal: AbortSignal
  /** Time between SIGTERM and SIGKILL. Default: 5000. */
  killGraceMs?: number
  cwd?: string
  /** UNSTUCK_CHILD is added to it. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv
  /** With `pipe`, `onStart` gets the stream; without `onStart` it is empty. Default: `ignore`. */
  stdin?: 'ignore' | 'pipe'
  onStart?: (child: StartedChild) => void
  /** Called once per line, without its end. A lone carriage return ends a line too, as progress bars need. */
  onStdout?: (line: string) => void
  onStderr?: (line: string) => void
  /** How many of the last bytes of each stream are kept. Default: 1 MiB. */
  maxOutputBytes?: number
}

export interface StartedChild {
  pid: number
  /** Null unless `stdin` is `pipe`. The writer has to end it. */
  stdin: Writable | null
}

export interface ChildResult {
  /** Null if a signal ended it. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** Only the tail was kept. */
  stdoutTruncated: boolean
  stderrTruncated: boolean
  durationMs: number
}

const DEFAULT_KILL_GRACE_MS = 5_000
const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024
const MAX_TIMER_MS = 2 ** 31 - 1
const MAX_LINE_LENGTH = 1024 * 1024
// Output that arrives byte by byte would otherwise take a hundred times the memory kept.
const MAX_CHUNKS = 1024
const GONE_POLL_MS = 10
// A process that left the group may hold the output open forever; everything written before is read by then.
const DRAIN_MS = 1_000

/**
 * Resolves when the program has ended, whatever its exit code. Rejects with the signal's reason once it is
 * aborted, with an error whose code is ENOENT or EACCES if the program cannot be started, and with the error of
 * a callback. It settles when no process of the group runs any more, so that a retry never runs beside this
 * attempt; processes that the program left running in its group are ended as on abort.
 *
 * Child and group die with this process, SIGKILL included. Processes that move to another group or session are
 * out of reach. On Windows (untested) there are neither groups nor a watchdog: an abort ends the child at once,
 * its own children live on, and nothing ends it when this process is killed.
 */
export async function spawnChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildResult> {
  checkOptions(options)
  options.signal.throwIfAborted()
  const killGraceMs = options.killGraceMs ?? DEFAULT_KILL_GRACE_MS
  const watchdog = process.platform === 'win32' ? undefined : await startChildWatchdog(killGraceMs)
  try {
    options.signal.throwIfAborted()
    return await runChild(startProgram(command, args, options, watchdog), command, options)
  } finally {
    await watchdog?.stop()
  }
}

function checkOptions({ killGraceMs, maxOutputBytes }: SpawnOptions): void {
  if (killGraceMs !== undefined && !(killGraceMs >= 0 && killGraceMs <= MAX_TIMER_MS))
    throw invalidArgument('killGraceMs', killGraceMs, `milliseconds from 0 to ${MAX_TIMER_MS}`)
  if (maxOutputBytes !== undefined && !(Number.isSafeInteger(maxOutputBytes) && maxOutputBytes >= 0))
    throw invalidArgument('maxOutputBytes', maxOutputBytes, 'a whole number from 0')
}

function startProgram(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  watchdog: ChildWatchdog | undefined,
): ChildProcess {
  const programOptions: ProgramOptions = {
    detached: process.platform !== 'win32',
    windowsHide: true,
    env: { ...(options.env ?? process.env), ...watchdog?.environment },
    stdio: [options.stdin ?? 'ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  }
  try {
    const child = spawn(command, args, programOptions)
    if (child.pid !== undefined) watchdog?.watch(child.pid)
    return child
  } catch (error) {
    throw startError(error, command, options.cwd)
  }
}

/** A new error without a cause: those of Node.js contain the arguments, which may be secrets. */
function startError(error: unknown, command: string, cwd: string | undefined): Error {
  const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException
  const isFolderMissing = code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)
  const why = isFolderMissing ? `${code}, there is no folder ${cwd} to run it in` : code
  return Object.assign(new Error(`cannot start ${command}: ${why}`), { code })
}

async function runChild(child: ChildProcess, command: string, options: SpawnOptions): Promise<ChildResult> {
  const { signal, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options
  const startedAt = timing.nowMs()
  const started = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.on('error', (error) => reject(startError(error, command, options.cwd)))
  })
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('exit', (...end) => resolve(end)),
  )
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const group = createGroup(child, options.killGraceMs ?? DEFAULT_KILL_GRACE_MS)
  const callbacks = guardCallbacks(group.end)
  const stdout = collectOutput(child.stdout, maxOutputBytes, callbacks.guard(options.onStdout))
  const stderr = collectOutput(child.stderr, maxOutputBytes, callbacks.guard(options.onStderr))
  signal.addEventListener('abort', group.end, { once: true })
  try {
    await started
    if (child.pid !== undefined) handOver({ pid: child.pid, stdin: child.stdin }, callbacks, options.onStart)
    const [exitCode, endSignal] = await exited
    const durationMs = Math.round(timing.nowMs() - startedAt)
    await group.endRest()
    await drain(child, closed)
    const out = stdout()
    const err = stderr()
    signal.throwIfAborted()
    callbacks.rethrow()
    return {
      exitCode,
      signal: endSignal,
      stdout: out.text,
      stderr: err.text,
      stdoutTruncated: out.isTruncated,
      stderrTruncated: err.isTruncated,
      durationMs,
    }
  } finally {
    signal.removeEventListener('abort', group.end)
  }
}

interface Group {
  end: () => void
  /** After the end of its leader. */
  endRest: () => Promise<void>
}

function createGroup(leader: ChildProcess, killGraceMs: number): Group {
  let killTimer: Timer | undefined
  // The id may have been reused by then.
  let isGone = false
  const end = (): void => {
    if (isGone || killTimer !== undefined || leader.pid === undefined) return
    signalGroup(leader, 'SIGTERM')
    killTimer = timing.setTimeout(() => signalGroup(leader, 'SIGKILL'), killGraceMs)
  }
  const endRest = async (): Promise<void> => {
    while (isGroupAlive(leader)) {
      end()
      await pause(GONE_POLL_MS)
    }
    isGone = true
    timing.clearTimeout(killTimer)
  }
  return { end, endRest }
}

async function drain(child: ChildProcess, closed: Promise<void>): Promise<void> {
  const letGo = (): void => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  // setImmediate: after a blocked event loop, timers fire before pending output is read.
  const timer = timing.setTimeout(() => timing.setImmediate(letGo), DRAIN_MS)
  await closed
  timing.clearTimeout(timer)
}

interface Callbacks {
  guard: <T>(callback: ((value: T) => void) | undefined) => ((value: T) => void) | undefined
  rethrow: () => void
}

/** A callback that throws inside an event would end the worker; here it ends the child and rejects the promise. */
function guardCallbacks(end: () => void): Callbacks {
  const thrown: unknown[] = []
  return {
    guard: (callback) =>
      callback === undefined
        ? undefined
        : (value) => {
            if (thrown.length > 0) return
            try {
              callback(value)
            } catch (error) {
              thrown.push(error)
              end()
            }
          },
    rethrow: () => {
      if (thrown.length > 0) throw thrown[0]
    },
  }
}

function handOver(child: StartedChild, callbacks: Callbacks, onStart: SpawnOptions['onStart']): void {
  // EPIPE: a program need not read all of its input.
  child.stdin?.on('error', () => undefined)
  if (onStart === undefined) child.stdin?.end()
  else callbacks.guard(onStart)?.(child)
}

type Output = () => { text: string; isTruncated: boolean }

function collectOutput(
  stream: Readable | null,
  limit: number,
  onLine: ((line: string) => void) | undefined,
): Output {
  let chunks: Buffer[] = []
  let keptBytes = 0
  let seenBytes = 0
  const tail = (): Buffer => {
    const all = Buffer.concat(chunks)
    return all.subarray(Math.max(0, all.length - limit))
  }
  const lines = onLine === undefined ? undefined : splitLines(onLine)
  stream?.on('error', () => undefined)
  stream?.on('data', (chunk: Buffer) => {
    seenBytes += chunk.length
    keptBytes += chunk.length
    chunks.push(chunk)
    // Cut only at twice the limit: cutting at every chunk would copy the whole tail each time.
    if (keptBytes > 2 * limit || chunks.length > MAX_CHUNKS) {
      chunks = [Buffer.from(tail())]
      keptBytes = chunks[0]?.length ?? 0
    }
    lines?.add(chunk)
  })
  stream?.on('close', () => lines?.end())
  return () => ({ text: textOf(tail(), seenBytes > limit), isTruncated: seenBytes > limit })
}

/** A cut may fall inside a character: its remaining bytes, three at most, are dropped. */
function textOf(bytes: Buffer, isCut: boolean): string {
  let start = 0
  const mostSkipped = isCut ? 3 : 0
  while (start < mostSkipped && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return bytes.toString('utf8', start)
}

function splitLines(onLine: (line: string) => void): { add: (chunk: Buffer) => void; end: () => void } {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let endedWithReturn = false
  return {
    add: (chunk) => {
      const decoded = decoder.write(chunk)
      if (decoded === '') return
      const text = endedWithReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded
      endedWithReturn = decoded.endsWith('\r')
      const [first = '', ...others] = text.split(/\r\n|\n|\r/)
      const lines = [rest + first, ...others]
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
      if (rest.length < MAX_LINE_LENGTH) return
      onLine(rest)
      rest = ''
    },
    end: () => {
      const last = rest + decoder.end()
      if (last !== '') onLine(last)
    },
  }
}
