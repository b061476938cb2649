// Beats from a worker thread with a connection of its own, so that a handler that blocks the event loop keeps its lease
// (C7, LEASE-9). The thread also measures how late the main loop answers.
import { Worker } from 'node:worker_threads'
import type { HeartbeatAnswer, Lease } from '../job/lease.ts'
import { BeatHealth, type Heartbeat, type HeartbeatEvents, HeldLeases } from './heartbeat.ts'

export type ToThread =
  | { kind: 'hold'; lease: Lease }
  | { kind: 'let-go'; lease: Lease }
  | { kind: 'pong' }
  | { kind: 'stop' }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'answers'; answers: (Lease & { answer: HeartbeatAnswer })[] }
  | { kind: 'failed'; message: string }
  | { kind: 'ping' }
  | { kind: 'lag'; lagMs: number }

export interface ThreadHeartbeatOptions {
  /** The entry of the thread, built JavaScript: Node 20 loads no TypeScript there. */
  threadUrl: URL
  workerData: unknown
  events: HeartbeatEvents
}

export function startThreadHeartbeat({ threadUrl, workerData, events }: ThreadHeartbeatOptions): Heartbeat {
  const held = new HeldLeases()
  const health = new BeatHealth(events)
  const thread = new Worker(threadUrl, { workerData, name: 'unstuck-heartbeat' })
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  let isReady = () => {}
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })
  const send = (message: ToThread) => thread.postMessage(message)
  thread.on('message', (message: FromThread) => {
    if (message.kind === 'ready') isReady()
    else if (message.kind === 'ping') send({ kind: 'pong' })
    else if (message.kind === 'lag') events.onLag(message.lagMs)
    else if (message.kind === 'failed') health.failed(new Error(message.message))
    else {
      health.succeeded()
      events.onBeat(message.answers.length)
      for (const { answer, ...lease } of message.answers) held.answer(lease, answer)
    }
  })
  // A thread that died cannot beat: the worker stops claiming, and its leases run out.
  thread.on('error', (error) => health.failed(error))
  return {
    hold(lease, onAnswer) {
      const { jobId, leaseId } = lease
      held.add(lease, onAnswer)
      send({ kind: 'hold', lease: { jobId, leaseId } })
    },
    letGo(lease) {
      const { jobId, leaseId } = lease
      held.delete(lease)
      send({ kind: 'let-go', lease: { jobId, leaseId } })
    },
    ready,
    isHealthy: () => health.isHealthy,
    async stop() {
      send({ kind: 'stop' })
      await ended
    },
  }
}
