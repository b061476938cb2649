// The heartbeat thread: composes a store of its own from what the worker hands over, and beats until it is told to stop.
import { parentPort, workerData } from 'node:worker_threads'
import { openTable } from './compose.ts'
import type { Lease } from './job/lease.ts'
import type { PolicyOverride } from './policy/policy.ts'
import type { TableProfile } from './profile/profile.ts'
import { type FromThread, type LeaseList, readLeases, type ToThread } from './runtime/thread-heartbeat.ts'

export interface HeartbeatThreadData {
  databaseUrl: string
  schema: string
  table: TableProfile
  policy: PolicyOverride
  intervalMs: number
}

const RECONNECT_MS = 500
const data = workerData as HeartbeatThreadData
const connected = openTable({
  ...data,
  applicationName: 'unstuck heartbeat',
  connections: 1,
  queryTimeoutMs: Math.max(2 * data.intervalMs, 5_000),
})
/** By lease id, the jobs of a claim. */
const held = new Map<string, Set<string>>()
let pingedAtMs: number | undefined
let beating: Promise<void> | undefined
let isFailing = false
let isStopping = false

const send = (message: FromThread) => parentPort?.postMessage(message)
const timer = setInterval(tick, data.intervalMs)
void connect()

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'change') change(message.held, message.dropped)
  else if (message.kind === 'let-go') void letGo(message.lease)
  else if (message.kind === 'pong') measureLag()
  else void stop()
})

function change(taken: LeaseList, dropped: LeaseList): void {
  for (const { leaseId, jobId } of readLeases(taken)) {
    const jobs = held.get(leaseId) ?? new Set()
    held.set(leaseId, jobs)
    if (jobId !== null) jobs.add(jobId)
  }
  for (const { leaseId, jobId } of readLeases(dropped)) {
    if (jobId === null) held.delete(leaseId)
    else forget({ leaseId, jobId })
  }
}

function forget({ leaseId, jobId }: Lease): void {
  const jobs = held.get(leaseId)
  jobs?.delete(jobId)
  if (jobs?.size === 0) held.delete(leaseId)
}

const leases = () => [...held].flatMap(([leaseId, jobs]) => [...jobs].map((jobId) => ({ jobId, leaseId })))

/** Until the database has answered once, a beat might have to wait for a connection. */
async function connect(): Promise<void> {
  for (;;) {
    try {
      await connected.store.readPolicy()
      isFailing = false
      return send({ kind: 'ready' })
    } catch (error) {
      if (isStopping) return
      tellFailure(error)
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
    }
  }
}

function tick(): void {
  if (pingedAtMs === undefined) {
    pingedAtMs = performance.now()
    send({ kind: 'ping' })
  }
  beat()
}

/** A beat that is still under way when the next is due has met a dead socket or a slow server: one at a time. */
function beat(): void {
  // The worker claims nothing while beats fail, so there may be nothing to beat for: still, find out whether it works again.
  if (held.size === 0 && !isFailing) return
  beating ??= beatOnce().finally(() => {
    beating = undefined
    // A whole interval later the lease may be over.
    if (isFailing && !isStopping) setTimeout(beat, Math.min(RECONNECT_MS, data.intervalMs))
  })
}

async function beatOnce(): Promise<void> {
  const sentAtMs = performance.timeOrigin + performance.now()
  try {
    if (held.size === 0) await connected.store.readPolicy()
    const { answers } = await connected.store.heartbeatJobs(leases(), { policy: data.policy })
    isFailing = false
    send({ kind: 'answers', answers, sentAtMs })
  } catch (error) {
    tellFailure(error)
  }
}

/** Answers when no beat with this lease is under way any more. */
async function letGo(lease: Lease): Promise<void> {
  forget(lease)
  await beating
  send({ kind: 'let-gone', lease })
}

function tellFailure(error: unknown): void {
  isFailing = true
  send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
}

function measureLag(): void {
  if (pingedAtMs === undefined) return
  send({ kind: 'lag', lagMs: performance.now() - pingedAtMs })
  pingedAtMs = undefined
}

async function stop(): Promise<void> {
  isStopping = true
  clearInterval(timer)
  await connected.close()
  parentPort?.close()
}
