// Runs each attempt of a handler in its own process: a handler that blocks its event loop, leaks or crashes can be killed, and
// the worker always gets its slot back. The entry of that process is handler-child.ts.
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { invalidArgument, transientError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { type AbortCause, type Handler, JobAborted, type JobContext } from '../attempt/handler.ts'
import { type Timer, timing } from '../timing/timing.ts'
import { pause, wait } from '../timing/wait.ts'
import { type ChildWatchdog, isGroupAlive, signalGroup, startChildWatchdog } from './child-watchdog.ts'
import { type PackedThrown, packThrown, unpackThrown } from './thrown-value.ts'

export interface FileHandlerOptions {
  /** Time between abort and SIGKILL, below the worker's `hangGraceMs`, or the slot counts as leaked. Default: 2000. */
  killAfterMs?: number
  /** Node.js arguments of the child, such as `--max-old-space-size=512`. Default: those of this process. */
  execArgv?: string[]
  /** Entry of the child, built JavaScript: Node 20 loads no TypeScript there. */
  entryUrl?: URL
}

export type ToChild =
  | { kind: 'run'; moduleUrl: string; job: ClaimedJob }
  | { kind: 'abort'; abortCause: AbortCause | null; thrown: PackedThrown }
  | { kind: 'stage-entered'; callId: number }
  | { kind: 'stage-refused'; callId: number; thrown: PackedThrown }

/** A message of the entry. Handlers and their libraries send messages of their own to the parent process. */
export interface FromEntry {
  unstuck: FromChild
}

export type FromChild =
  | { kind: 'progress'; value?: number | undefined; text?: string | undefined }
  | { kind: 'stage'; callId: number; name: string }
  /** JSON text; undefined if the handler returned nothing. */
  | { kind: 'returned'; result: string | undefined }
  | { kind: 'threw'; thrown: PackedThrown }

type Answer = Extract<FromChild, { kind: 'returned' | 'threw' }>

interface Settings {
  moduleUrl: string
  entry: string
  killAfterMs: number
  execArgv: string[]
}

export const DEFAULT_KILL_AFTER_MS = 2_000
const MAX_TIMER_MS = 2 ** 31 - 1
const GONE_POLL_MS = 10
// The last message may arrive after the exit event; a channel that another process holds open ends the wait here.
const DRAIN_MS = 1_000

/**
 * A handler that is the default export of a built JavaScript module, run in a child process for each attempt. A path is
 * relative to the working directory, `new URL('./asr.js', import.meta.url)` to the calling module. It gets the job and the
 * context, but neither `tx` nor `gateway`: these belong to the worker. The child dies with the worker, SIGKILL included (C17).
 */
export function fileHandler(file: string | URL, options: FileHandlerOptions = {}): Handler {
  const { killAfterMs = DEFAULT_KILL_AFTER_MS, execArgv, entryUrl } = options
  if (!(killAfterMs >= 0 && killAfterMs <= MAX_TIMER_MS))
    throw invalidArgument('killAfterMs', killAfterMs, `milliseconds from 0 to ${MAX_TIMER_MS}`)
  const settings: Settings = {
    moduleUrl: moduleUrlOf(file),
    entry: fileURLToPath(entryUrl ?? new URL('./handler-child.js', import.meta.url)),
    killAfterMs,
    // Two processes cannot share a debugger port.
    execArgv: execArgv ?? process.execArgv.filter((argument) => !argument.startsWith('--inspect')),
  }
  return (job, context) => runInChild(job, context, settings)
}

/** Checked at registration: a worker whose handler is missing should not claim jobs for it. */
function moduleUrlOf(file: string | URL): string {
  const url = file instanceof URL ? file : pathToFileURL(file)
  if (url.protocol !== 'file:' || !existsSync(url))
    throw invalidArgument('file', String(file), 'the path or file: URL of a JavaScript module that exists')
  return url.href
}

async function runInChild(job: ClaimedJob, context: JobContext, settings: Settings): Promise<unknown> {
  context.signal.throwIfAborted()
  const watchdog = process.platform === 'win32' ? undefined : await startChildWatchdog(settings.killAfterMs)
  try {
    context.signal.throwIfAborted()
    const child = startChild(settings, watchdog)
    return await superviseAttempt(child, job, context, settings)
  } finally {
    await watchdog?.stop()
  }
}

function startChild({ entry, execArgv }: Settings, watchdog: ChildWatchdog | undefined): ChildProcess {
  const child = fork(entry, [], {
    // A process group of its own, to be ended with everything the handler started in it.
    detached: process.platform !== 'win32',
    env: { ...process.env, ...watchdog?.environment },
    execArgv,
    // Unlike JSON, it preserves the job's dates.
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  if (child.pid !== undefined) watchdog?.watch(child.pid)
  return child
}

/** Resolves when no process of the child's group runs any more: a retry never runs beside this attempt. */
async function superviseAttempt(
  child: ChildProcess,
  job: ClaimedJob,
  context: JobContext,
  { moduleUrl, killAfterMs }: Settings,
): Promise<unknown> {
  const { signal } = context
  let answer: Answer | undefined
  let killTimer: Timer | undefined
  // There is no channel if the process could not be started, nor after its end.
  const send = (message: ToChild) => {
    if (child.connected) child.send(message, () => undefined)
  }
  const endSoon = () => {
    killTimer ??= timing.setTimeout(() => signalGroup(child, 'SIGKILL'), killAfterMs)
  }
  const abort = () => {
    send(abortMessage(signal.reason))
    endSoon()
  }
  child.on('message', (sent: Partial<FromEntry> | null) => {
    const message = sent?.unstuck
    if (message === undefined) return
    if (message.kind === 'progress') context.progress(message.value, message.text)
    else if (message.kind === 'stage') void enterStage(context, message).then(send)
    else {
      answer ??= message
      endSoon()
    }
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    const ended = endOf(child)
    send({ kind: 'run', moduleUrl, job })
    const how = await ended
    await endRest(child)
    if (answer !== undefined) return readAnswer(answer)
    signal.throwIfAborted()
    throw transientError(`the process of the handler ended without an answer: ${how}`, {
      code: 'CHILD_ENDED',
    })
  } finally {
    timing.clearTimeout(killTimer)
    signal.removeEventListener('abort', abort)
  }
}

async function endOf(child: ChildProcess): Promise<string> {
  const closed = new Promise((resolve) => child.once('close', resolve))
  const how = await new Promise<string>((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve(signal ?? `exit code ${exitCode}`))
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return
      const { code = 'UNKNOWN' } = error
      reject(transientError(`cannot start the process of the handler: ${code}`, { code }))
    })
  })
  const drained = new AbortController()
  await Promise.race([closed, wait(DRAIN_MS, drained.signal)])
  drained.abort()
  return how
}

async function endRest(child: ChildProcess): Promise<void> {
  while (isGroupAlive(child)) {
    signalGroup(child, 'SIGKILL')
    await pause(GONE_POLL_MS)
  }
}

function abortMessage(reason: unknown): ToChild {
  const abortCause = reason instanceof JobAborted ? reason.abortCause : null
  return { kind: 'abort', abortCause, thrown: packThrown(reason) }
}

async function enterStage(
  context: JobContext,
  { callId, name }: { callId: number; name: string },
): Promise<ToChild> {
  try {
    await context.stage(name)
    return { kind: 'stage-entered', callId }
  } catch (error) {
    return { kind: 'stage-refused', callId, thrown: packThrown(error) }
  }
}

function readAnswer(answer: Answer): unknown {
  if (answer.kind === 'threw') throw unpackThrown(answer.thrown)
  return answer.result === undefined ? undefined : JSON.parse(answer.result)
}
