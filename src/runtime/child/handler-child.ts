// Entry of the process of one attempt: loads the handler's module, runs it for the job it receives, and reports how it ended.
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import { jsonText } from '../../job/json-text.ts'
import { type Handler, JobAborted, type JobContext } from '../attempt/handler.ts'
import { releaseJob } from '../attempt/release-request.ts'
import { progressOf } from '../attempt/reported-progress.ts'
import { type Timer, timing } from '../timing/timing.ts'
import type { FromChild, FromEntry, ToChild } from './child-handler.ts'
import { spawnChild } from './spawn-child.ts'
import { packThrown, unpackThrown } from './thrown-value.ts'

// A loop that reports progress at every turn would fill the channel.
const PROGRESS_GAP_MS = 50

const controller = new AbortController()
const stageCalls = new Map<number, { resolve: () => void; reject: (reason: unknown) => void }>()
let lastCallId = 0
let progressedAtMs = Number.NEGATIVE_INFINITY
let progressTimer: Timer | undefined
/** The last value, if the gap has kept it back. */
let unsent: { value: number | undefined; text: string | undefined } | null = null

const send = (message: FromChild, onSent = () => {}) =>
  void process.send?.({ unstuck: message } satisfies FromEntry, onSent)

process.on('message', (message: ToChild) => {
  if (message.kind === 'run') void run(message)
  else if (message.kind === 'abort') {
    const { abortCause, thrown } = message
    controller.abort(abortCause === null ? unpackThrown(thrown) : new JobAborted(abortCause))
  } else if (message.kind === 'stage-entered') stageCalls.get(message.callId)?.resolve()
  else stageCalls.get(message.callId)?.reject(unpackThrown(message.thrown))
})
// The worker is gone: there is nobody to answer.
process.on('disconnect', () => process.exit(1))
// Service managers signal whole process trees. Whether the job goes on is the worker's decision, sent as a message.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
// An uncaught error of the handler ends the attempt; it is not a crash of the worker.
process.on('uncaughtException', (error) => end({ kind: 'threw', thrown: packThrown(error) }))

async function run({ moduleUrl, job }: Extract<ToChild, { kind: 'run' }>): Promise<void> {
  try {
    const handler = await loadHandler(moduleUrl)
    controller.signal.throwIfAborted()
    const result = await handler(job, contextOf(job.fence))
    end({ kind: 'returned', result: result === undefined ? undefined : jsonText('result', result) })
  } catch (error) {
    end({ kind: 'threw', thrown: packThrown(error) })
  }
}

async function loadHandler(moduleUrl: string): Promise<Handler> {
  const loaded = (await import(moduleUrl)) as { default?: unknown }
  if (typeof loaded.default !== 'function')
    throw invalidArgument('default export of the handler’s file', loaded.default, 'a function', {
      withhold: true,
    })
  return loaded.default as Handler
}

function contextOf(fence: number): JobContext {
  const { signal } = controller
  return {
    signal,
    fence,
    // Only the worker knows; a lost lease arrives as the abort signal.
    isAtRisk: () => false,
    progress,
    stage: (name) =>
      new Promise((resolve, reject) => {
        const callId = ++lastCallId
        stageCalls.set(callId, { resolve, reject })
        send({ kind: 'stage', callId, name })
      }),
    spawn: (command, args, options) => spawnChild(command, args, { ...options, signal }),
    release: releaseJob,
    gateway: () => notThere('gateway', 'the worker reports its calls to the breaker'),
    tx: () => notThere('tx', 'the transaction belongs to the worker'),
    ownTx: () => notThere('ownTx', 'the lease belongs to the worker'),
  }
}

function notThere(name: string, why: string): Promise<never> {
  const message = `${name}: not there in a handler’s own process: ${why}`
  const hint = 'Register the handler as a function instead of a file.'
  return Promise.reject(new UnstuckError('INVALID_ARGUMENT', message, { hint }))
}

function progress(value?: number, text?: string): void {
  const reported = progressOf(value, text)
  if (reported !== null) unsent = { value, text }
  const leftMs = progressedAtMs + PROGRESS_GAP_MS - timing.nowMs()
  if (leftMs <= 0) sendProgress()
  else if (reported !== null) progressTimer ??= timing.setTimeout(sendProgress, leftMs)
}

function sendProgress(): void {
  timing.clearTimeout(progressTimer)
  progressTimer = undefined
  progressedAtMs = timing.nowMs()
  send({ kind: 'progress', ...unsent })
  unsent = null
}

/** Exits, whatever the handler left open. Only the first answer counts. */
function end(answer: FromChild): void {
  if (unsent !== null) sendProgress()
  send(answer, () => process.exit(0))
}
