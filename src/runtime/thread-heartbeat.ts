// Beats from a worker thread with a connection of its own, so that a handler that blocks the event loop keeps its lease
// (C7, LEASE-9). The thread also measures how late the main loop answers.
import { Worker } from 'node:worker_threads'
import { type HeartbeatAnswer, type Lease, leaseKey } from '../job/lease.ts'
import { BeatHealth, type Heartbeat, type HeartbeatEvents, HeldLeases } from './heartbeat.ts'
import { withResolvers } from './with-resolvers.ts'

export type ToThread =
  | { kind: 'change'; held: LeaseList; dropped: LeaseList }
  | { kind: 'let-go'; lease: Lease }
  | { kind: 'pong' }
  | { kind: 'stop' }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'answers'; answers: (Lease & { answer: HeartbeatAnswer })[]; sentAtMs: number }
  | { kind: 'let-gone'; lease: Lease }
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
  const ended = withResolvers<void>()
  const ready = withResolvers<void>()
  const died = withResolvers<Error>()
  const lettingGo = new Map<string, () => void>()
  let isStopping = false
  const send = (message: ToThread) => thread.postMessage(message)
  const changes = new LeaseChanges((held, dropped) => send({ kind: 'change', held, dropped }))
  thread.on('message', (message: FromThread) => {
    if (message.kind === 'ready') {
      health.succeeded()
      ready.resolve()
    } else if (message.kind === 'let-gone') lettingGo.get(leaseKey(message.lease))?.()
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
    for (const answer of lettingGo.values()) answer()
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
    letGo(lease) {
      const { jobId, leaseId } = lease
      held.delete(lease)
      changes.tell()
      const gone = withResolvers<void>()
      lettingGo.set(leaseKey(lease), () => {
        lettingGo.delete(leaseKey(lease))
        gone.resolve()
      })
      send({ kind: 'let-go', lease: { jobId, leaseId } })
      return gone.promise
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

/** A lease id, and the jobs that it is or was for as one text, which is copied to the thread at once. */
export type LeaseList = [leaseId: string, jobIds: string][]
const NUL = '\0'
/** Instead of ids: every job of the claim. */
const ALL = ''

/** Null in place of a job is every job. */
export function* readLeases(list: LeaseList): Generator<{ leaseId: string; jobId: string | null }> {
  for (const [leaseId, jobIds] of list)
    for (const jobId of jobIds.split(NUL)) yield { leaseId, jobId: jobId === ALL ? null : jobId }
}

/** How long a lease that was dropped may still be beaten for. */
const DROPPED_MS = 250

/**
 * One message for many leases: a message a job, each way, took a tenth of the time of a worker with short jobs. What is held
 * is told before the next handler runs, what is dropped a little later or along with it.
 */
class LeaseChanges {
  readonly #tell: (held: LeaseList, dropped: LeaseList) => void
  #held = new Map<string, string[]>()
  #dropped = new Map<string, string[]>()
  #isTelling = false
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (held: LeaseList, dropped: LeaseList) => void) {
    this.#tell = tell
  }

  hold({ jobId, leaseId }: Lease): void {
    // After a transaction that failed: what was dropped of the claim goes first, or it would take this one along.
    if (this.#dropped.has(leaseId)) this.tell()
    addTo(this.#held, leaseId, jobId)
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => this.tell())
  }

  drop({ jobId, leaseId }: Lease): void {
    addTo(this.#dropped, leaseId, jobId)
    this.#timer ??= setTimeout(() => this.tell(), DROPPED_MS)
  }

  dropAll(leaseId: string): void {
    this.#dropped.set(leaseId, [ALL])
    this.#timer ??= setTimeout(() => this.tell(), DROPPED_MS)
  }

  tell(): void {
    this.#isTelling = false
    // Held first: a job may be claimed and end between two messages.
    if (this.#held.size === 0 && this.#dropped.size === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#tell(listOf(this.#held), listOf(this.#dropped))
    this.#held = new Map()
    this.#dropped = new Map()
  }
}

function addTo(leases: Map<string, string[]>, leaseId: string, jobId: string): void {
  const jobIds = leases.get(leaseId)
  if (jobIds === undefined) leases.set(leaseId, [jobId])
  else jobIds.push(jobId)
}

const listOf = (leases: Map<string, string[]>): LeaseList =>
  Array.from(leases, ([leaseId, jobIds]) => [leaseId, jobIds.join(NUL)])
