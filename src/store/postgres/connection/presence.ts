// Presence (LEASE-10, C24): a session of its own holds a shared advisory lock while this process lives. PostgreSQL drops it
// within milliseconds of the process's death; a frozen or cut-off process keeps it. The session may also watch the others.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { LEAST_GRACE_MS, LOOK_MS } from '../../../policy/lease/presence-times.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import { render } from '../render/render.ts'
import { readQuery } from '../sql-queries.ts'
import { isDirect } from './connection-identity.ts'
import { destroyClient, endClient } from './end-client.ts'
import type { Row } from './executor.ts'
import { findAddress, type ServerAddress } from './schema-owners.ts'

export interface PresenceOptions {
  server: ServerAddress
  schema: string
  table: TableProfile
  /** Whose lock it holds. Without it, the session only watches. */
  workerId?: string
  /** From 1 to 2²¹ − 1, drawn once per process: workers that end together with it are one death. */
  processKey?: number
  longestLeaseMs: number
  /** False for a process that would not sweep what it finds. Default: true. */
  isWatching?: boolean
  /** The lock is held, at the start and after every loss. The worker has `graceMs` to come back after the next one. */
  onPresent?: (graceMs: number) => void
  onLost?: (error: Error) => void
  /** Presence is impossible here: a pooler in between, or a missing permission. Called once. */
  onOff?: (reason: string) => void
  /** A look found workers that are gone. */
  onGone?: () => void
}

export interface Presence {
  /** Looks at the other workers from now on, unless two processes do already. */
  watch(): void
  /** An orderly leave. */
  stop(): Promise<void>
}

const MOST_GRACE_MS = 30_000
/** A try that hangs gets another beside it. */
const NEXT_TRY_MS = 500
const MAX_TRIES = 4
/** After this many in vain, such as on a server without free slots, they become rare. */
const EAGER_TRIES = 60
const RARE_TRY_MS = 10_000
/** Every statement of the session is short. */
const QUERY_TIMEOUT_MS = 10_000
/** The lower bits of a key distinguish the workers of one process, as look_at_workers.sql knows. */
const WORKER_BITS = 10
const UNIQUE_VIOLATION = '23505'
/** The server answered that it will not do this: missing permission, missing function, unsupported. */
const REFUSALS = ['42', '0A', '3D', '28']

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
  readonly #tries = new Set<pg.Client>()
  #key = 0
  #graceMs = LEAST_GRACE_MS
  #client: pg.Client | undefined
  /** Did not answer in time: it still holds its lock until another session does. */
  #suspect: pg.Client | undefined
  #suspectClient: () => void = () => {}
  /** The session that watches, or asks whether it should. */
  #watching: pg.Client | undefined
  #moves = 0
  readonly #ignoreMoves: () => void

  constructor(options: PresenceOptions) {
    this.#options = options
    const { server } = options
    this.#ignoreMoves = typeof server === 'string' ? () => {} : server.onMoved(() => this.#move())
    this.#drawKey()
  }

  /** Locks count on the server where others look for them. The former session keeps its lock until another one has it. */
  #move(): void {
    this.#moves++
    this.#suspectClient()
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const moves = this.#moves
      const client = await this.#connect()
      if (client === undefined) return
      if (moves !== this.#moves) {
        destroyClient(client)
        continue
      }
      if (this.#suspect !== undefined) destroyClient(this.#suspect)
      this.#client = client
      this.#options.onPresent?.(this.#graceMs)
      if (this.#options.isWatching !== false) this.watch()
      await this.#untilReplaced(client)
    }
  }

  /** Resolves when another session is needed. */
  async #untilReplaced(client: pg.Client): Promise<void> {
    const { signal } = this.#stopping
    const lost = untilLost(client).then((error) => {
      const isNeeded = this.#client === client || (this.#suspect === client && this.#client === undefined)
      if (isNeeded && !signal.aborted) this.#options.onLost?.(error)
    })
    const suspected = new Promise<void>((resolve) => {
      this.#suspectClient = () => {
        this.#suspect = client
        resolve()
      }
    })
    await Promise.race([lost, suspected])
    this.#client = undefined
  }

  watch(): void {
    const client = this.#client
    if (client === undefined || this.#watching === client) return
    this.#watching = client
    void this.#watchUntilLost(client)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#ignoreMoves()
    for (const client of this.#tries) destroyClient(client)
    if (this.#suspect !== undefined) destroyClient(this.#suspect)
    const { workerId } = this.#options
    const client = this.#client
    if (client === undefined) return
    if (workerId !== undefined) await this.#query(client, 'leave_presence', [workerId]).catch(() => {})
    await endClient(client)
  }

  async #watchUntilLost(client: pg.Client): Promise<void> {
    const [row] = await this.#query(client, 'watch_workers', []).catch(() => [])
    // If others watch, a sweep asks again when one of them is gone.
    if (row?.['is_watching'] !== true && this.#watching === client) this.#watching = undefined
    while (this.#watching === client && this.#client === client && !this.#stopping.signal.aborted) {
      const waitMs = await this.#look(client)
      await sleep(waitMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {})
    }
  }

  /** Returns the time until the next look: those who watch take turns. */
  async #look(client: pg.Client): Promise<number> {
    const [row] = await this.#query(client, 'look_at_workers', []).catch((error: unknown) => {
      // The statement is short, so the network is cut or the server hangs.
      if ((error as Error).message === 'Query read timeout') this.#suspectClient()
      return []
    })
    if (Number(row?.['newly_gone'] ?? 0) > 0) this.#options.onGone?.()
    return LOOK_MS * Math.max(1, Number(row?.['watchers'] ?? 1))
  }

  /** Resolves with the first session that holds the lock; undefined if stopped, or impossible here. */
  #connect(): Promise<pg.Client | undefined> {
    return new Promise((resolve) => {
      let hasEnded = false
      const finish = (client: pg.Client | undefined) => {
        hasEnded = true
        clearTimeout(next)
        this.#stopping.signal.removeEventListener('abort', stopped)
        for (const other of this.#tries) if (other !== client) destroyClient(other)
        this.#tries.clear()
        resolve(client)
      }
      const stopped = () => finish(undefined)
      this.#stopping.signal.addEventListener('abort', stopped)
      let next: NodeJS.Timeout
      let tried = 0
      const attempt = () => {
        if (this.#tries.size < MAX_TRIES) void this.#try(finish, () => hasEnded)
        tried += 1
        next = setTimeout(attempt, tried < EAGER_TRIES ? NEXT_TRY_MS : RARE_TRY_MS)
      }
      attempt()
    })
  }

  async #try(finish: (client: pg.Client | undefined) => void, hasEnded: () => boolean): Promise<void> {
    const address = await findAddress(this.#options.server).catch(() => undefined)
    if (address === undefined || hasEnded()) return
    const client = this.#createClient(address)
    this.#tries.add(client)
    const isCurrent = () => this.#tries.has(client)
    try {
      const isPresent = await this.#take(client)
      if (isCurrent()) return finish(isPresent ? client : undefined)
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (code === UNIQUE_VIOLATION) this.#drawKey()
      if (isCurrent() && code.length === 5 && REFUSALS.includes(code.slice(0, 2))) {
        this.#options.onOff?.((error as Error).message)
        return finish(undefined)
      }
    }
    this.#tries.delete(client)
    destroyClient(client)
  }

  /** False behind a pooler, whose sessions are not ours: nothing may be set there (C15). */
  async #take(client: pg.Client): Promise<boolean> {
    const { workerId, longestLeaseMs, onOff } = this.#options
    const startedAtMs = performance.now()
    await client.connect()
    const [identity] = await this.#query(client, 'connection_identity', [])
    if (!isDirect(client, identity?.['backend_pid'])) {
      if (workerId !== undefined) await this.#query(client, 'take_presence', [workerId, null, null])
      onOff?.('a connection pooler is in between')
      void endClient(client)
      return false
    }
    await this.#query(client, 'prepare_presence', [Math.round(longestLeaseMs)])
    const connectMs = performance.now() - startedAtMs
    this.#graceMs = Math.round(Math.min(MOST_GRACE_MS, Math.max(LEAST_GRACE_MS, 4 * connectMs)))
    if (workerId !== undefined)
      await this.#query(client, 'take_presence', [workerId, this.#key, this.#graceMs])
    return true
  }

  #drawKey(): void {
    const { processKey = 1 } = this.#options
    this.#key = processKey * 2 ** WORKER_BITS + randomInt(2 ** WORKER_BITS)
  }

  #createClient(connectionString: string): pg.Client {
    const client = new pg.Client({
      connectionString,
      application_name: 'unstuck presence',
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
    })
    // A loss is reported by `untilLost`, or by the statement that runs.
    client.on('error', () => {})
    return client
  }

  async #query(client: pg.Client, name: string, params: unknown[]): Promise<Row[]> {
    const { schema, table } = this.#options
    const { rows } = await client.query<Row>(render(readQuery(name), { schema, table }), params)
    return rows
  }
}

function untilLost(client: pg.Client): Promise<Error> {
  return new Promise((resolve) => {
    client.once('error', resolve)
    client.once('end', () => resolve(new Error('the connection has ended')))
  })
}
