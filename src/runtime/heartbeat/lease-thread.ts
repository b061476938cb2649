// The heartbeat thread without its thread: extends the leases of a worker over connections of its own until it is stopped. A
// thread hosts it (compose/heartbeat-thread.ts), and so does the simulator.
import { type Lease, leaseKey } from '../../job/lease.ts'
import { type Policy, type PolicyOverride, withOverride } from '../../policy/policy.ts'
import type { HeartbeatOptions, HeartbeatReport, HeartbeatStore } from '../../store/job-store.ts'
import { type Timer, timing } from '../timing/timing.ts'
import { pause } from '../timing/wait.ts'
import { withResolvers } from '../timing/with-resolvers.ts'
import type { LastBeat } from './heartbeat.ts'
import { HeldClaims } from './held-claims.ts'
import type { LeaseList } from './lease-changes.ts'
import { MainThreadLag } from './main-thread-lag.ts'
import { isPendingAfter, repeatUntilAnswered } from './repeated-call.ts'
import type { FromThread, ToThread } from './thread-heartbeat.ts'
import { keepPresence, type Presence, type PresenceListener } from './worker-presence.ts'

export interface LeaseThreadOptions {
  workerId: string
  policy: PolicyOverride
  intervalMs: number
  /** Opens one connection. */
  open: () => HeartbeatConnection
  /** Absent for a store without sessions. */
  startPresence?: ((listener: PresenceListener, longestLeaseMs: number) => Presence) | undefined
  send: (message: FromThread) => void
  onStopped: () => void
}

export interface HeartbeatConnection {
  store: HeartbeatStore
  close: () => Promise<void>
}

interface Call {
  table: HeartbeatConnection
  leases: Lease[]
  settled: Promise<void>
  settle: () => void
}

type LastAnswer = LastBeat | { failure: string }
type LastBeats = (lease: Lease) => LastAnswer

const RECONNECT_MS = 500
/** Upper bound of one heartbeat call, however long the leases are. */
export const LONGEST_BEAT_MS = 10_000
/** Shortest lease granted at hand-over: the main thread may be blocked before it reads the answer. */
const HAND_OVER_MS = 30_000

export class LeaseThread {
  readonly #options: LeaseThreadOptions
  #connected: HeartbeatConnection
  readonly #held = new HeldClaims()
  /** Leases to hand over to the main thread and not extended yet, by the lease they need. */
  #leaving = new Map<number, Lease[]>()
  #isExtending = false
  /** Calls that may still reach the server, abandoned ones included. */
  readonly #underWay = new Set<Call>()
  /** Timeout of a first try, and of the current one: it doubles from try to try to allow for a slow network. */
  #firstLimitMs = LONGEST_BEAT_MS
  #limitMs = LONGEST_BEAT_MS
  readonly #lag: MainThreadLag
  #beating: Promise<void> | undefined
  #lastBeatAtMs = 0
  #presence: Presence | undefined
  #isFailing = false
  #isStopping = false
  readonly #timer: Timer

  constructor(options: LeaseThreadOptions) {
    this.#options = options
    this.#connected = options.open()
    this.#lag = new MainThreadLag(options)
    this.#timer = timing.setInterval(() => this.#tick(), options.intervalMs)
    void this.#connect()
  }

  hear(message: ToThread): void {
    if (message.kind === 'change') this.#change(message.held, message.dropped)
    else if (message.kind === 'hand-over') this.#requestHandOver(message.lease, message.leaseMs)
    else if (message.kind === 'pong') this.#lag.notePong()
    else if (message.kind === 'watch') this.#presence?.watch()
    else if (message.kind === 'beat') this.#beatAgain()
    else if (message.kind === 'move') this.#move()
    else void this.#stop()
  }

  #change(taken: LeaseList, dropped: LeaseList): void {
    this.#held.change(taken, dropped)
    // The claim's answer reached a blocked event loop: the lease may expire before the next tick (LEASE-9).
    if (taken.length > 0 && this.#lag.isLate) this.#beatAgain()
  }

  /** Connects before the first heartbeat, which would otherwise have to wait for the connection. */
  async #connect(): Promise<void> {
    for (;;) {
      try {
        const policy = withOverride(await this.#connected.store.readPolicy(), this.#options.policy)
        this.#readLeaseTimes(policy)
        this.#isFailing = false
        if (!this.#isStopping) this.#presence = this.#startPresence(policy)
        return this.#options.send({ kind: 'ready' })
      } catch (error) {
        if (this.#isStopping) return
        this.#reportFailure(error)
        // At random times, so that a fleet that starts at once does not try at once again.
        await pause(RECONNECT_MS * (0.5 + timing.random()))
      }
    }
  }

  #startPresence(policy: Policy): Presence | undefined {
    const { startPresence, send } = this.#options
    if (policy.presence === 'off' || startPresence === undefined) return undefined
    const longestLeaseMs = Math.max(policy.defaultLeaseMs, ...Object.values(policy.stageLeasesMs))
    return keepPresence({
      start: (listener) => startPresence(listener, longestLeaseMs),
      beat: () => this.#beatAgain(),
      showLife: async () => this.#connected.store.showLife?.(this.#options.workerId),
      lastBeatAtMs: () => this.#lastBeatAtMs,
      onAtRisk: (reason) => {
        if (this.#held.list().length === 0) return
        this.#reportFailure(new Error(`the session that shows this worker alive is lost: ${reason}`))
        send({ kind: 'at-risk' })
      },
      onOff: (reason) => send({ kind: 'presence-off', reason }),
      onGone: () => send({ kind: 'workers-gone' }),
    })
  }

  /** A timeout of a third of the shortest lease leaves time for a second try on another connection. */
  #readLeaseTimes({ defaultLeaseMs, stageLeasesMs }: Policy): void {
    const leasesMs = [defaultLeaseMs, ...Object.values(stageLeasesMs)]
    this.#firstLimitMs = Math.min(LONGEST_BEAT_MS, Math.min(...leasesMs) / 3)
    this.#limitMs = this.#firstLimitMs
  }

  #tick(): void {
    this.#lag.ping()
    this.#beat()
  }

  /** A whole heartbeat from now, after the current one. */
  #beatAgain(): void {
    void Promise.resolve(this.#beating).then(() => this.#beat())
  }

  /** One heartbeat at a time: if one is still running when the next is due, the socket is dead or the server slow. */
  #beat(): void {
    if (this.#beating !== undefined) return
    const leases = this.#held.list()
    // While heartbeats fail nothing is claimed, so no lease may be held: probe the database anyway, to notice the recovery.
    if (leases.length === 0 && !this.#isFailing) return
    this.#beating = this.#beatOnce(leases).finally(() => {
      this.#beating = undefined
      // The lease may expire within a whole interval.
      if (this.#isFailing && !this.#isStopping) timing.setTimeout(() => this.#beat(), this.#pauseMs)
    })
  }

  async #beatOnce(leases: Lease[]): Promise<void> {
    const sentAtMs = timing.epochMs()
    try {
      if (leases.length === 0) await this.#connected.store.readPolicy()
      const { answers } = await this.#heartbeat(leases)
      this.#isFailing = false
      this.#lastBeatAtMs = sentAtMs
      this.#options.send({ kind: 'answers', answers, sentAtMs })
    } catch (error) {
      this.#reportFailure(error)
    }
  }

  /**
   * A call that exceeds the limit, connecting included, met a dead socket or a slow server. It is sent again on a second
   * connection in parallel; the connection that answers first is kept.
   */
  async #heartbeat(leases: Lease[], options: HeartbeatOptions = {}): Promise<HeartbeatReport> {
    const first = this.#connected
    const call = this.#callOn(first, leases, options)
    const isLate = await isPendingAfter(this.#limitMs, call)
    this.#limitMs = isLate ? Math.min(2 * this.#limitMs, LONGEST_BEAT_MS) : this.#firstLimitMs
    if (!isLate || this.#isStopping) return call
    const { isFirst, last } = await repeatUntilAnswered(call, {
      begin: () => {
        const connection = this.#options.open()
        return { connection, answer: this.#callOn(connection, leases, options) }
      },
      leave: (connection) => void this.#leave(connection),
      pauseMs: this.#pauseMs,
      isStopping: () => this.#isStopping,
    })
    // A concurrent call may have replaced the first connection already, and closed it.
    const isReplaced = !isFirst && this.#connected === first
    if (isReplaced) this.#connected = last.connection
    void this.#leave(isReplaced ? first : last.connection)
    return isFirst ? call : last.answer
  }

  /** Before the next call while heartbeats fail. */
  get #pauseMs(): number {
    return Math.min(RECONNECT_MS, this.#options.intervalMs / 2)
  }

  #callOn(table: HeartbeatConnection, leases: Lease[], options: HeartbeatOptions): Promise<HeartbeatReport> {
    const { promise: settled, resolve: settle } = withResolvers<void>()
    const call = { table, leases, settled, settle }
    this.#underWay.add(call)
    void settled.then(() => this.#underWay.delete(call))
    const attempt = table.store.heartbeatJobs(leases, { policy: this.#options.policy, ...options })
    attempt.then(
      () => settle(),
      () => settle(),
    )
    return attempt
  }

  /** The former server still answers the calls that it has. */
  #move(): void {
    const former = this.#connected
    this.#connected = this.#options.open()
    void this.#leave(former)
  }

  /** A closed connection sends nothing more, so calls that still wait for it are over. */
  async #leave(table: HeartbeatConnection): Promise<void> {
    await table.close()
    for (const call of this.#underWay) if (call.table === table) call.settle()
  }

  #requestHandOver(lease: Lease, leaseMs: number): void {
    this.#held.drop(lease)
    const neededMs = Math.max(leaseMs, HAND_OVER_MS)
    const alike = this.#leaving.get(neededMs)
    if (alike === undefined) this.#leaving.set(neededMs, [lease])
    else alike.push(lease)
    if (this.#isExtending) return
    this.#isExtending = true
    void this.#extendLeaving().finally(() => {
      this.#isExtending = false
    })
  }

  /** One statement for all hand-overs requested during the last one that need the same lease. */
  async #extendLeaving(): Promise<void> {
    while (this.#leaving.size > 0) {
      const groups = [...this.#leaving]
      this.#leaving = new Map()
      await Promise.all(
        groups.map(async ([leaseMs, handedOver]) => {
          const isLate = this.#lateCallOf(handedOver)
          const isAlone = !this.#isAnyUnderWay(isLate)
          const lastBeats = await this.#extend(handedOver, leaseMs)
          void this.#handOver(handedOver, leaseMs, { lastBeats, isAlone }, isLate)
        }),
      )
    }
  }

  /** Calls that may still write one of these leases. Their second tries, which may begin later, carry the same list. */
  #lateCallOf(handedOver: Lease[]): (call: Call) => boolean {
    const keys = new Set(handedOver.map(leaseKey))
    const earlier = new Set<Lease[]>()
    for (const { leases } of this.#underWay)
      if (leases.some((lease) => keys.has(leaseKey(lease)))) earlier.add(leases)
    return ({ leases }) => leases === handedOver || earlier.has(leases)
  }

  #isAnyUnderWay(isLate: (call: Call) => boolean): boolean {
    return [...this.#underWay].some(isLate)
  }

  async #extend(handedOver: Lease[], leaseMs: number): Promise<LastBeats> {
    const sentAtMs = timing.epochMs()
    try {
      const { answers } = await this.#heartbeat(handedOver, { leaseMs })
      const byLease = new Map(answers.map(({ answer, ...lease }) => [leaseKey(lease), answer]))
      return (lease) => ({ answer: byLease.get(leaseKey(lease)) ?? 'lost', sentAtMs })
    } catch (error) {
      this.#reportFailure(error)
      return () => ({ failure: messageOf(error) })
    }
  }

  /**
   * Hands leases over after an extension beside which no other call with them was under way: the server may have run such a call
   * last, which shortens the lease again, or may still run it and write the row during the transaction.
   */
  async #handOver(
    handedOver: Lease[],
    leaseMs: number,
    { lastBeats, isAlone }: { lastBeats: LastBeats; isAlone: boolean },
    isLate: (call: Call) => boolean,
  ): Promise<void> {
    // A lost lease does not come back, whatever is still under way.
    let awaited = this.#sendHandedOver(handedOver, lastBeats, hasNoLease)
    while (awaited.length > 0) {
      const late = [...this.#underWay].filter(isLate)
      if (late.length > 0) await Promise.race(late.map(({ settled }) => settled))
      else if (isAlone) break
      isAlone = !this.#isAnyUnderWay(isLate)
      lastBeats = await this.#extend(handedOver, leaseMs)
      awaited = this.#sendHandedOver(awaited, lastBeats, hasNoLease)
    }
    this.#sendHandedOver(awaited, lastBeats, () => true)
  }

  /** Returns the leases that are not handed over yet. */
  #sendHandedOver(
    leases: Lease[],
    lastBeats: LastBeats,
    canHandOver: (lastBeat: LastAnswer) => boolean,
  ): Lease[] {
    return leases.filter((lease) => {
      const lastBeat = lastBeats(lease)
      if (!canHandOver(lastBeat)) return true
      this.#options.send({ kind: 'handed-over', lease, lastBeat })
      return false
    })
  }

  #reportFailure(error: unknown): void {
    this.#isFailing = true
    this.#options.send({ kind: 'failed', message: messageOf(error) })
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    timing.clearInterval(this.#timer)
    await this.#presence?.stop()
    await this.#connected.close()
    this.#options.onStopped()
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const hasNoLease = (last: LastAnswer) => 'answer' in last && last.answer === 'lost'
