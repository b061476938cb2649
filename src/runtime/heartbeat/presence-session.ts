// Presence (LEASE-10, C24): a session of its own holds a shared lock while this process lives. The server drops it within
// milliseconds of the process's death; a frozen or cut-off process keeps it. The session may also watch the others.
import { LEAST_GRACE_MS, LOOK_MS } from '../../policy/lease/presence-times.ts'
import type { PresenceConnection } from '../../store/presence-connection.ts'
import { type Timer, timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'
import type { Presence, PresenceListener } from './worker-presence.ts'

export interface PresenceOptions extends Partial<PresenceListener> {
  /** Creates a connection, not connected yet. */
  open: () => PresenceConnection
  /** Calls the listener when connections go to another server. Returns the function that ends the notices. */
  onMoved?: ((listener: () => void) => () => void) | undefined
  /** Whose lock it holds. Without it, the session only watches. */
  workerId?: string
  /** From 1 to 2²¹ − 1, drawn once per process: workers that end together with it are one death. */
  processKey?: number
  longestLeaseMs: number
  /** False for a process that would not sweep what it finds. Default: true. */
  isWatching?: boolean
}

const MOST_GRACE_MS = 30_000
/** A try that hangs gets another beside it. */
const NEXT_TRY_MS = 500
const MAX_TRIES = 4
/** After this many in vain, such as on a server without free slots, they become rare. */
const EAGER_TRIES = 60
const RARE_TRY_MS = 10_000
/** The lower bits of a key distinguish the workers of one process, as look_at_workers.sql knows. */
const WORKER_BITS = 10

export function startPresence(options: PresenceOptions): Presence {
  const session = new PresenceSession(options)
  const ended = session.run()
  return {
    watch: () => session.watch(),
    async stop() {
      await session.stop()
      await ended
    },
  }
}

class PresenceSession {
  readonly #options: PresenceOptions
  readonly #stopping = new AbortController()
  readonly #tries = new Set<PresenceConnection>()
  #key = 0
  #graceMs = LEAST_GRACE_MS
  #connection: PresenceConnection | undefined
  /** Did not answer in time: it still holds its lock until another session does. */
  #suspect: PresenceConnection | undefined
  #suspectConnection: () => void = () => {}
  /** The session that watches, or asks whether it should. */
  #watching: PresenceConnection | undefined
  #moves = 0
  readonly #ignoreMoves: () => void

  constructor(options: PresenceOptions) {
    this.#options = options
    this.#ignoreMoves = options.onMoved?.(() => this.#move()) ?? (() => {})
    this.#drawKey()
  }

  /** Locks count on the server where others look for them. The former session keeps its lock until another one has it. */
  #move(): void {
    this.#moves++
    this.#suspectConnection()
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const moves = this.#moves
      const connection = await this.#connect()
      if (connection === undefined) return
      if (moves !== this.#moves) {
        connection.destroy()
        continue
      }
      this.#suspect?.destroy()
      this.#connection = connection
      this.#options.onPresent?.()
      if (this.#options.isWatching !== false) this.watch()
      await this.#untilReplaced(connection)
    }
  }

  /** Resolves when another session is needed. */
  async #untilReplaced(connection: PresenceConnection): Promise<void> {
    const { signal } = this.#stopping
    const lost = connection.untilLost().then((error) => {
      const isNeeded =
        this.#connection === connection || (this.#suspect === connection && this.#connection === undefined)
      if (isNeeded && !signal.aborted) this.#noteLoss(error)
    })
    const suspected = new Promise<void>((resolve) => {
      this.#suspectConnection = () => {
        this.#suspect = connection
        resolve()
      }
    })
    await Promise.race([lost, suspected])
    this.#connection = undefined
  }

  watch(): void {
    const connection = this.#connection
    if (connection === undefined || this.#watching === connection) return
    this.#watching = connection
    void this.#watchUntilLost(connection)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#ignoreMoves()
    for (const connection of this.#tries) connection.destroy()
    this.#suspect?.destroy()
    const { workerId } = this.#options
    const connection = this.#connection
    if (connection === undefined) return
    if (workerId !== undefined) await connection.leave(workerId).catch(() => {})
    await connection.end()
  }

  async #watchUntilLost(connection: PresenceConnection): Promise<void> {
    const isWatching = await connection.watch().catch(() => false)
    // If others watch, a sweep asks again when one of them is gone.
    if (!isWatching && this.#watching === connection) this.#watching = undefined
    while (
      this.#watching === connection &&
      this.#connection === connection &&
      !this.#stopping.signal.aborted
    ) {
      const waitMs = await this.#look(connection)
      await wait(waitMs, this.#stopping.signal)
    }
  }

  /** Returns the time until the next look: those who watch take turns. */
  async #look(connection: PresenceConnection): Promise<number> {
    const { newlyGone, watchers } = await connection.look().catch((error: unknown) => {
      if (connection.failureOf(error) === 'late') this.#suspectConnection()
      return { newlyGone: 0, watchers: 1 }
    })
    if (newlyGone > 0) this.#options.onGone?.()
    return LOOK_MS * Math.max(1, watchers)
  }

  /** Resolves with the first session that holds the lock; undefined if stopped, or impossible here. */
  #connect(): Promise<PresenceConnection | undefined> {
    return new Promise((resolve) => {
      const finish = (connection: PresenceConnection | undefined) => {
        timing.clearTimeout(next)
        this.#stopping.signal.removeEventListener('abort', stopped)
        for (const other of this.#tries) if (other !== connection) other.destroy()
        this.#tries.clear()
        resolve(connection)
      }
      const stopped = () => finish(undefined)
      this.#stopping.signal.addEventListener('abort', stopped)
      let next: Timer | undefined
      let tried = 0
      const attempt = () => {
        if (this.#tries.size < MAX_TRIES) void this.#try(finish)
        tried += 1
        next = timing.setTimeout(attempt, tried < EAGER_TRIES ? NEXT_TRY_MS : RARE_TRY_MS)
      }
      attempt()
    })
  }

  async #try(finish: (connection: PresenceConnection | undefined) => void): Promise<void> {
    const connection = this.#options.open()
    this.#tries.add(connection)
    const isCurrent = () => this.#tries.has(connection)
    try {
      const isPresent = await this.#take(connection)
      if (isCurrent()) return finish(isPresent ? connection : undefined)
    } catch (error) {
      const failure = connection.failureOf(error)
      if (failure === 'key-taken') this.#drawKey()
      if (isCurrent() && failure === 'refused') {
        this.#options.onOff?.((error as Error).message)
        return finish(undefined)
      }
    }
    this.#tries.delete(connection)
    connection.destroy()
  }

  async #take(connection: PresenceConnection): Promise<boolean> {
    const { workerId, longestLeaseMs, onOff } = this.#options
    const startedAtMs = timing.nowMs()
    await connection.connect()
    if (!(await connection.isDirect())) {
      if (workerId !== undefined) await connection.take(workerId, null)
      onOff?.('a connection pooler is in between')
      void connection.end()
      return false
    }
    await connection.prepare(longestLeaseMs)
    const connectMs = timing.nowMs() - startedAtMs
    this.#graceMs = Math.round(Math.min(MOST_GRACE_MS, Math.max(LEAST_GRACE_MS, 4 * connectMs)))
    if (workerId !== undefined) await this.#takeLock(connection, workerId)
    return true
  }

  /** If it fails the server may know of a session, which ends with this connection: a loss like any other. */
  async #takeLock(connection: PresenceConnection, workerId: string): Promise<void> {
    try {
      await connection.take(workerId, { key: this.#key, graceMs: this.#graceMs })
    } catch (error) {
      const isUnanswered = ['late', 'other'].includes(connection.failureOf(error))
      if (isUnanswered && this.#tries.has(connection)) this.#noteLoss(error as Error)
      throw error
    }
  }

  #noteLoss(error: Error): void {
    this.#options.onLost?.(error, this.#graceMs)
  }

  #drawKey(): void {
    const { processKey = 1 } = this.#options
    this.#key = processKey * 2 ** WORKER_BITS + Math.floor(timing.random() * 2 ** WORKER_BITS)
  }
}
