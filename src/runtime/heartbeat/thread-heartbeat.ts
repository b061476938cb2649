// Heartbeats from a worker thread with its own connection: a handler that blocks the event loop keeps its lease (C7, LEASE-9).
// The thread also measures the lag of the main event loop.
import { Worker } from 'node:worker_threads'
import { UnstuckError } from '../../errors/index.ts'
import { type HeartbeatAnswer, type Lease, leaseKey } from '../../job/lease.ts'
import { withResolvers } from '../timing/with-resolvers.ts'
import { BeatHealth, type Heartbeat, type HeartbeatEvents, HeldLeases, type LastBeat } from './heartbeat.ts'
import { LeaseChanges, type LeaseList } from './lease-changes.ts'

export type ToThread =
  | { kind: 'change'; held: LeaseList; dropped: LeaseList }
  | { kind: 'hand-over'; lease: Lease; leaseMs: number }
  | { kind: 'pong' }
  | { kind: 'beat' }
  | { kind: 'watch' }
  | { kind: 'move'; databaseUrl: string }
  | { kind: 'stop' }

interface Answers {
  kind: 'answers'
  answers: (Lease & { answer: HeartbeatAnswer })[]
  sentAtMs: number
}

export type FromThread =
  | { kind: 'ready' }
  | Answers
  | { kind: 'handed-over'; lease: Lease; lastBeat: LastBeat | { failure: string } }
  | { kind: 'failed'; message: string }
  | { kind: 'ping' }
  | { kind: 'lag'; lagMs: number }
  | { kind: 'at-risk' }
  | { kind: 'presence-off'; reason: string }
  | { kind: 'workers-gone' }

export interface ThreadHeartbeatOptions {
  /** Built JavaScript: Node 20 loads no TypeScript in worker threads. */
  threadUrl: URL
  workerData: unknown
  events: HeartbeatEvents
}

/** Hardly anything outlives a heartbeat: a larger young generation would waste memory. */
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

export function startThreadHeartbeat({ threadUrl, workerData, events }: ThreadHeartbeatOptions): Heartbeat {
  return driveThread(new Worker(threadUrl, { workerData, name: 'unstuck-heartbeat', resourceLimits }), events)
}

/** The main thread's end of a heartbeat thread. */
export interface ThreadPort {
  postMessage(message: ToThread): void
  on(event: 'message', listener: (message: FromThread) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  once(event: 'exit', listener: (code: number) => void): unknown
}

export function driveThread(thread: ThreadPort, events: HeartbeatEvents): Heartbeat {
  const held = new HeldLeases()
  const health = new BeatHealth(events)
  const ended = withResolvers<void>()
  const ready = withResolvers<void>()
  const died = withResolvers<Error>()
  const handOvers = new HandOvers()
  let isStopping = false
  let onGone = () => {}
  const send = (message: ToThread) => thread.postMessage(message)
  const changes = new LeaseChanges((held, dropped) => send({ kind: 'change', held, dropped }))
  thread.on('message', (message) => {
    if (message.kind === 'ready') {
      health.succeeded()
      ready.resolve()
    } else if (message.kind === 'handed-over') handOvers.end(message.lease, message.lastBeat)
    else if (message.kind === 'ping') send({ kind: 'pong' })
    else if (message.kind === 'lag') events.onLag(message.lagMs)
    else if (message.kind === 'failed') health.failed(new Error(message.message))
    else if (message.kind === 'at-risk') held.putAtRisk()
    else if (message.kind === 'presence-off') events.onPresenceOff?.(message.reason)
    else if (message.kind === 'workers-gone') onGone()
    else {
      health.succeeded()
      events.onBeat(message.answers.length)
      passOn(message, held, handOvers)
    }
  })
  // Without its thread the worker cannot extend leases: it has to leave, and its leases expire.
  thread.on('error', (error) => health.failed(error))
  thread.once('exit', (code) => {
    handOvers.fail('the heartbeat thread has ended')
    if (!isStopping) died.resolve(new Error(`the heartbeat thread ended by itself, with code ${code}`))
    ended.resolve()
  })
  void died.promise.then((error) => health.failed(error))
  return {
    hold(lease, listener) {
      held.add(lease, listener)
      changes.hold(lease)
    },
    drop(lease) {
      if (held.delete(lease)) changes.dropAll(lease.leaseId)
      else changes.drop(lease)
    },
    handOver(lease, leaseMs) {
      const { jobId, leaseId } = lease
      held.delete(lease)
      changes.flush()
      const ended = handOvers.begin(lease)
      send({ kind: 'hand-over', lease: { jobId, leaseId }, leaseMs })
      return ended
    },
    hearCancels(leaseNumbers) {
      if (held.hasAny(leaseNumbers)) send({ kind: 'beat' })
    },
    moveTo: (databaseUrl) => send({ kind: 'move', databaseUrl }),
    presence: { onGone: (listener) => void (onGone = listener), watch: () => send({ kind: 'watch' }) },
    ready: ready.promise,
    died: died.promise,
    isHealthy: () => health.isHealthy,
    async stop() {
      isStopping = true
      changes.flush()
      send({ kind: 'stop' })
      await ended.promise
    },
  }
}

function passOn({ answers, sentAtMs }: Answers, held: HeldLeases, handOvers: HandOvers): void {
  for (const { answer, ...lease } of answers) {
    held.answer(lease, answer, sentAtMs)
    // A lost lease does not come back: its hand-over need not wait for an answer of its own, which an outage may delay.
    if (answer === 'lost') handOvers.end(lease, { answer, sentAtMs })
  }
}

type LastAnswer = LastBeat | { failure: string }

class HandOvers {
  readonly #ends = new Map<string, (answer: LastAnswer) => void>()

  begin(lease: Lease): Promise<LastBeat> {
    const { promise, resolve } = withResolvers<LastAnswer>()
    this.#ends.set(leaseKey(lease), resolve)
    return promise.then(requireAnswer)
  }

  end(lease: Lease, answer: LastAnswer): void {
    this.#ends.get(leaseKey(lease))?.(answer)
    this.#ends.delete(leaseKey(lease))
  }

  fail(failure: string): void {
    for (const end of this.#ends.values()) end({ failure })
  }
}

function requireAnswer(lastBeat: LastAnswer): LastBeat {
  if ('answer' in lastBeat) return lastBeat
  throw new UnstuckError('DATABASE_UNREACHABLE', `the lease could not be extended: ${lastBeat.failure}`)
}
