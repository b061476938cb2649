// Entry of the heartbeat thread: opens its own connection and extends the worker's leases until it is stopped.
import { parentPort, workerData } from 'node:worker_threads'
import { type Lease, leaseKey } from '../job/lease.ts'
import { type Policy, type PolicyOverride, withOverride } from '../policy/policy.ts'
import type { TableProfile } from '../profile/profile.ts'
import type { LastBeat } from '../runtime/heartbeat/heartbeat.ts'
import { HeldClaims } from '../runtime/heartbeat/held-claims.ts'
import type { LeaseList } from '../runtime/heartbeat/lease-changes.ts'
import type { FromThread, ToThread } from '../runtime/heartbeat/thread-heartbeat.ts'
import { withResolvers } from '../runtime/timing/with-resolvers.ts'
import type { HeartbeatOptions, HeartbeatReport } from '../store/job-store.ts'
import { type OpenHeartbeatStore, openHeartbeatStore } from './open-heartbeat-store.ts'
import { keepPresence, type Presence } from './presence/worker-presence.ts'

export interface HeartbeatThreadData {
  databaseUrl: string
  schema: string
  table: TableProfile
  workerId: string
  /** See `PresenceOptions`. */
  processKey: number
  policy: PolicyOverride
  intervalMs: number
}

interface Call {
  table: OpenHeartbeatStore
  leases: Lease[]
  settled: Promise<void>
  settle: () => void
}

const RECONNECT_MS = 500
/** Upper bound of one heartbeat call, however long the leases are. */
const LONGEST_BEAT_MS = 10_000
/** Shortest lease granted at hand-over: the main thread may be blocked before it reads the answer. */
const HAND_OVER_MS = 30_000
const data = workerData as HeartbeatThreadData
let connected = open()
const held = new HeldClaims()
/** Leases to hand over to the main thread and not extended yet, by the lease they need. */
let leaving = new Map<number, Lease[]>()
let extending: Promise<void> | undefined
/** Calls that may still reach the server, abandoned ones included. */
const underWay = new Set<Call>()
/** Timeout of a first try, and of the current one: it doubles from try to try to allow for a slow network. */
let firstLimitMs = LONGEST_BEAT_MS
let limitMs = LONGEST_BEAT_MS
let pingedAtMs: number | undefined
/** When the main thread last took a quarter of an interval or more to answer a ping. */
let lateAtMs = Number.NEGATIVE_INFINITY
let beating: Promise<void> | undefined
let lastBeatAtMs = 0
let presence: Presence | undefined
let isFailing = false
let isStopping = false

const send = (message: FromThread) => parentPort?.postMessage(message)
const timer = setInterval(tick, data.intervalMs)
void connect()

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'change') change(message.held, message.dropped)
  else if (message.kind === 'hand-over') requestHandOver(message.lease, message.leaseMs)
  else if (message.kind === 'pong') measureLag()
  else if (message.kind === 'watch') presence?.watch()
  else if (message.kind === 'beat') beatAgain()
  else void stop()
})

function change(taken: LeaseList, dropped: LeaseList): void {
  held.change(taken, dropped)
  // The claim's answer reached a blocked event loop: the lease may expire before the next tick (LEASE-9).
  if (taken.length > 0 && isMainLate()) beatAgain()
}

function isMainLate(): boolean {
  const nowMs = performance.now()
  return nowMs - lateAtMs < data.intervalMs || nowMs - (pingedAtMs ?? nowMs) >= data.intervalMs / 4
}

function open(): OpenHeartbeatStore {
  return openHeartbeatStore({
    ...data,
    applicationName: 'unstuck heartbeat',
    connections: 1,
    queryTimeoutMs: LONGEST_BEAT_MS,
    // Kept from beat to beat: on a server without free slots a worker that loses its presence lock shows life over it.
    idleTimeoutMs: 2 * data.intervalMs,
  })
}

/** Connects before the first heartbeat, which would otherwise have to wait for the connection. */
async function connect(): Promise<void> {
  for (;;) {
    try {
      const policy = withOverride(await connected.store.readPolicy(), data.policy)
      readLeaseTimes(policy)
      isFailing = false
      if (!isStopping) presence = startPresence(policy)
      return send({ kind: 'ready' })
    } catch (error) {
      if (isStopping) return
      reportFailure(error)
      // At random times, so that a fleet that starts at once does not try at once again.
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS * (0.5 + Math.random())))
    }
  }
}

function startPresence(policy: Policy): Presence | undefined {
  if (policy.presence === 'off') return undefined
  return keepPresence({
    ...data,
    longestLeaseMs: Math.max(policy.defaultLeaseMs, ...Object.values(policy.stageLeasesMs)),
    beat: beatAgain,
    showLife: async () => connected.store.showLife?.(data.workerId),
    lastBeatAtMs: () => lastBeatAtMs,
    onAtRisk(reason) {
      if (held.list().length === 0) return
      reportFailure(new Error(`the session that shows this worker alive is lost: ${reason}`))
      send({ kind: 'at-risk' })
    },
    onOff: (reason) => send({ kind: 'presence-off', reason }),
    onGone: () => send({ kind: 'workers-gone' }),
  })
}

/** A timeout of a third of the shortest lease leaves time for a second try on another connection. */
function readLeaseTimes({ defaultLeaseMs, stageLeasesMs }: Policy): void {
  const leasesMs = [defaultLeaseMs, ...Object.values(stageLeasesMs)]
  firstLimitMs = Math.min(LONGEST_BEAT_MS, Math.min(...leasesMs) / 3)
  limitMs = firstLimitMs
}

function tick(): void {
  if (pingedAtMs === undefined) {
    pingedAtMs = performance.now()
    send({ kind: 'ping' })
  }
  beat()
}

/** A whole heartbeat from now, after the current one. */
function beatAgain(): void {
  void Promise.resolve(beating).then(beat)
}

/** One heartbeat at a time: if one is still running when the next is due, the socket is dead or the server slow. */
function beat(): void {
  if (beating !== undefined) return
  const leases = held.list()
  // While heartbeats fail nothing is claimed, so no lease may be held: probe the database anyway, to notice the recovery.
  if (leases.length === 0 && !isFailing) return
  beating = beatOnce(leases).finally(() => {
    beating = undefined
    // The lease may expire within a whole interval.
    if (isFailing && !isStopping) setTimeout(beat, Math.min(RECONNECT_MS, data.intervalMs / 2))
  })
}

async function beatOnce(leases: Lease[]): Promise<void> {
  const sentAtMs = performance.timeOrigin + performance.now()
  try {
    if (leases.length === 0) await connected.store.readPolicy()
    const { answers } = await heartbeat(leases)
    isFailing = false
    lastBeatAtMs = sentAtMs - performance.timeOrigin
    send({ kind: 'answers', answers, sentAtMs })
  } catch (error) {
    reportFailure(error)
  }
}

/**
 * A call that exceeds the limit, connecting included, met a dead socket or a slow server. It is sent again on a second
 * connection in parallel; the connection that answers first is kept.
 */
async function heartbeat(leases: Lease[], options: HeartbeatOptions = {}): Promise<HeartbeatReport> {
  const first = connected
  const tries = [callOn(first, leases, options)]
  const isLate = await Promise.race([tries[0]?.then(isNever, isNever), hasElapsed(limitMs)])
  limitMs = isLate ? Math.min(2 * limitMs, LONGEST_BEAT_MS) : firstLimitMs
  if (!isLate || isStopping) return tries[0] as Promise<HeartbeatReport>
  const second = open()
  tries.push(callOn(second, leases, options))
  const answered = await Promise.any(tries.map((attempt, nth) => attempt.then(() => nth))).catch(() => 1)
  // A concurrent call may have replaced the first connection already, and closed it.
  const isReplaced = answered === 1 && connected === first
  if (isReplaced) connected = second
  void leave(isReplaced ? first : second)
  return tries[answered] as Promise<HeartbeatReport>
}

function callOn(
  table: OpenHeartbeatStore,
  leases: Lease[],
  options: HeartbeatOptions,
): Promise<HeartbeatReport> {
  const { promise: settled, resolve: settle } = withResolvers<void>()
  const call = { table, leases, settled, settle }
  underWay.add(call)
  void settled.then(() => underWay.delete(call))
  const attempt = table.store.heartbeatJobs(leases, { policy: data.policy, ...options })
  attempt.then(
    () => settle(),
    () => settle(),
  )
  return attempt
}

/** A closed connection sends nothing more, so calls that still wait for it are over. */
async function leave(table: OpenHeartbeatStore): Promise<void> {
  await table.close()
  for (const call of underWay) if (call.table === table) call.settle()
}

const isNever = () => false

function hasElapsed(ms: number): Promise<boolean> {
  return new Promise((resolve) => setTimeout(resolve, ms, true).unref())
}

function requestHandOver(lease: Lease, leaseMs: number): void {
  held.drop(lease)
  const neededMs = Math.max(leaseMs, HAND_OVER_MS)
  const alike = leaving.get(neededMs)
  if (alike === undefined) leaving.set(neededMs, [lease])
  else alike.push(lease)
  extending ??= extendLeaving().finally(() => {
    extending = undefined
  })
}

/** One statement for all hand-overs requested during the last one that need the same lease. */
async function extendLeaving(): Promise<void> {
  while (leaving.size > 0) {
    const groups = [...leaving]
    leaving = new Map()
    const earlier = new Set(underWay)
    await Promise.all(
      groups.map(async ([leaseMs, handedOver]) => {
        const lastBeats = await extend(handedOver, leaseMs)
        void handOver(handedOver, leaseMs, lastBeats, earlier)
      }),
    )
  }
}

type LastBeats = (lease: Lease) => LastBeat | { failure: string }

async function extend(handedOver: Lease[], leaseMs: number): Promise<LastBeats> {
  const sentAtMs = performance.timeOrigin + performance.now()
  try {
    const { answers } = await heartbeat(handedOver, { leaseMs })
    const byLease = new Map(answers.map(({ answer, ...lease }) => [leaseKey(lease), answer]))
    return (lease) => ({ answer: byLease.get(leaseKey(lease)) ?? 'lost', sentAtMs })
  } catch (error) {
    reportFailure(error)
    return () => ({ failure: messageOf(error) })
  }
}

/**
 * Hands leases over once no call with them is in flight: a late one would shorten the lease again, or write the row during the
 * transaction.
 */
async function handOver(
  handedOver: Lease[],
  leaseMs: number,
  lastBeats: LastBeats,
  earlier: Set<Call>,
): Promise<void> {
  const lateCalls = () => [...underWay].filter((call) => call.leases === handedOver || earlier.has(call))
  for (let late = lateCalls(); late.length > 0; late = lateCalls()) {
    await Promise.race(late.map(({ settled }) => settled))
    lastBeats = await extend(handedOver, leaseMs)
  }
  for (const lease of handedOver) send({ kind: 'handed-over', lease, lastBeat: lastBeats(lease) })
}

function reportFailure(error: unknown): void {
  isFailing = true
  send({ kind: 'failed', message: messageOf(error) })
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function measureLag(): void {
  if (pingedAtMs === undefined) return
  const nowMs = performance.now()
  if (nowMs - pingedAtMs >= data.intervalMs / 4) lateAtMs = nowMs
  send({ kind: 'lag', lagMs: nowMs - pingedAtMs })
  pingedAtMs = undefined
}

async function stop(): Promise<void> {
  isStopping = true
  clearInterval(timer)
  await presence?.stop()
  await connected.close()
  parentPort?.close()
}
