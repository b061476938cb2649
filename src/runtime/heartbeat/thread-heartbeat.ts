// Beats from a worker thread with a connection of its own, so that a handler that blocks the event loop keeps its lease
// (C7, LEASE-9). The thread also measures how late the main loop answers.
import { Worker } from 'node:worker_threads'
import { UnstuckError } from '../../errors/index.ts'
import { type HeartbeatAnswer, type Lease, leaseKey } from '../../job/lease.ts'
import { withResolvers } from '../timing/with-resolvers.ts'
import { BeatHealth, type Heartbeat, type HeartbeatEvents, HeldLeases, type LastBeat } from './heartbeat.ts'
import { LeaseChanges, type LeaseList } from './lease-changes.ts'

export type ToThread =
  | { kind: 'change'; held: LeaseList; dropped: LeaseList }
  | { kind: 'let-go'; lease: Lease; leaseMs: number }
  | { kind: 'pong' }
  | { kind: 'stop' }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'answers'; answers: (Lease & { answer: HeartbeatAnswer })[]; sentAtMs: number }
  | { kind: 'let-gone'; lease: Lease; lastBeat: LastBeat | { failure: string } }
  | { kind: 'failed'; message: string }
  | { kind: 'ping' }
  | { kind: 'lag'; lagMs: number }

export interface ThreadHeartbeatOptions {
  /** The entry of the thread, built JavaScript: Node 20 loads no TypeScript there. */
  threadUrl: URL
  workerData: unknown
  events: HeartbeatEvents
}

/** A thread has hardly anything that lives between two beats: more room for the young ones is 1 MB that lies idle. */
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

export function startThreadHeartbeat({ threadUrl, workerData, events }: ThreadHeartbeatOptions): Heartbeat {
  const held = new HeldLeases()
  const health = new BeatHealth(events)
  const thread = new Worker(threadUrl, { workerData, name: 'unstuck-heartbeat', resourceLimits })
  const ended = withResolvers<void>()
  const ready = withResolvers<void>()
  const died = withResolvers<Error>()
  const lettingGo = new Map<string, (lastBeat: LastBeat | { failure: string }) => void>()
  let isStopping = false
  const send = (message: ToThread) => thread.postMessage(message)
  const changes = new LeaseChanges((held, dropped) => send({ kind: 'change', held, dropped }))
  thread.on('message', (message: FromThread) => {
    if (message.kind === 'ready') {
      health.succeeded()
      ready.resolve()
    } else if (message.kind === 'let-gone') lettingGo.get(leaseKey(message.lease))?.(message.lastBeat)
    else if (message.kind === 'ping') send({ kind: 'pong' })
    else if (message.kind === 'lag') events.onLag(message.lagMs)
    else if (message.kind === 'failed') health.failed(new Error(message.message))
    else {
      health.succeeded()
      events.onBeat(message.answers.length)
      for (const { answer, ...lease } of message.answers) held.answer(lease, answer, message.sentAtMs)
    }
  })
  // A thread that died cannot beat: the worker has to leave, and its leases run out.
  thread.on('error', (error) => health.failed(error))
  thread.once('exit', (code) => {
    for (const answer of lettingGo.values()) answer({ failure: 'the heartbeat thread has ended' })
    if (!isStopping) {
      const error = new Error(`the heartbeat thread ended by itself, with code ${code}`)
      health.failed(error)
      died.resolve(error)
    }
    ended.resolve()
  })
  return {
    hold(lease, listener) {
      held.add(lease, listener)
      changes.hold(lease)
    },
    listen: (lease, listener) => held.add(lease, listener),
    drop(lease) {
      if (held.delete(lease)) changes.dropAll(lease.leaseId)
      else changes.drop(lease)
    },
    letGo(lease, leaseMs) {
      const { jobId, leaseId } = lease
      held.delete(lease)
      changes.tell()
      const gone = withResolvers<LastBeat | { failure: string }>()
      lettingGo.set(leaseKey(lease), (lastBeat) => {
        lettingGo.delete(leaseKey(lease))
        gone.resolve(lastBeat)
      })
      send({ kind: 'let-go', lease: { jobId, leaseId }, leaseMs })
      return gone.promise.then(requireAnswer)
    },
    ready: ready.promise,
    died: died.promise,
    isHealthy: () => health.isHealthy,
    async stop() {
      isStopping = true
      changes.tell()
      send({ kind: 'stop' })
      await ended.promise
    },
  }
}

function requireAnswer(lastBeat: LastBeat | { failure: string }): LastBeat {
  if ('answer' in lastBeat) return lastBeat
  throw new UnstuckError('DATABASE_UNREACHABLE', `the lease could not be extended: ${lastBeat.failure}`)
}
