// Hints of new work, and of ends that somebody waits for, over a dedicated connection that listens, after a test at the start that notifications arrive. Hints only
// save time (C16): workers poll as well.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hintForAll, type JobHint } from '../../../policy/wake/wake-turn.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import { render } from '../render/render.ts'
import { readQuery } from '../sql-queries.ts'
import { isDirect } from './connection-identity.ts'
import { pg } from './driver.ts'
import { endClient } from './end-client.ts'
import { readCancels, readHints } from './read-hints.ts'
import { findAddress, type ServerAddress } from './schema-owners.ts'

export interface ListenOptions {
  /** Must not lead through a pooler in transaction mode. */
  databaseUrl: ServerAddress
  schema: string
  table: TableProfile
  /**
   * Sends a notification with this payload over another connection: a backend delivers its own before it answers, so even a
   * pooler in transaction mode would deliver those to the sender.
   */
  sendTest: (payload: string) => Promise<unknown>
  /** There are jobs to claim, or will be. Also after each `onStarted`, for missed hints; the caller coalesces. */
  onHint: (hint: JobHint) => void
  /** Jobs under leases with these numbers are asked to stop. */
  onCancels: (leaseNumbers: number[]) => void
  onStarted: (channel: string) => void
  /** No hints until the next `onStarted`. Called once per interruption. */
  onFailed: (reason: string) => void
}

export interface Listener {
  stop(): Promise<void>
}

interface ChannelOptions extends Omit<ListenOptions, 'onHint' | 'onCancels'> {
  /** The statement that subscribes the connection. */
  subscribe: 'listen_to_hints' | 'listen_to_waits'
  onPayload: (payload: string) => void
}

export interface ListenToWaitsOptions extends Omit<ListenOptions, 'onHint' | 'onCancels'> {
  /** The process with this number waits for a job that has ended. */
  onEnded: (channel: number) => void
}

const TEST_WAIT_MS = 2_000
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 30_000

export function listen({ onHint, onCancels, ...options }: ListenOptions): Listener {
  return listenTo({
    ...options,
    subscribe: 'listen_to_hints',
    onPayload(payload) {
      const cancels = readCancels(payload)
      if (cancels.length > 0) onCancels(cancels)
      for (const hint of readHints(payload)) onHint(hint)
    },
    onStarted(channel) {
      options.onStarted(channel)
      // For jobs that were enqueued before the server knew this connection as a listener.
      onHint(hintForAll())
    },
  })
}

/** Ends of jobs that a process of this table waits for. */
export function listenToWaits({ onEnded, ...options }: ListenToWaitsOptions): Listener {
  const onPayload = (payload: string) => /^-?\d+$/.test(payload) && onEnded(Number(payload))
  return listenTo({ ...options, subscribe: 'listen_to_waits', onPayload })
}

function listenTo(options: ChannelOptions): Listener {
  const listener = new RunningListener(options)
  const ended = listener.run()
  return {
    async stop() {
      listener.stop()
      await ended
    },
  }
}

/** Permanent: something in between drops notifications. */
class PoolerInBetween extends Error {}

class RunningListener {
  readonly #options: ChannelOptions
  readonly #stopping = new AbortController()
  #isFailing = false
  #retryMs = FIRST_RETRY_MS
  #endWait: () => void = () => {}
  readonly #ignoreMoves: () => void

  constructor(options: ChannelOptions) {
    this.#options = options
    const { databaseUrl } = options
    // Notifications reach the listeners of the server that sends them.
    this.#ignoreMoves =
      typeof databaseUrl === 'string' ? () => {} : databaseUrl.onMoved(() => this.#endWait())
  }

  stop(): void {
    this.#stopping.abort()
    this.#ignoreMoves()
    this.#endWait()
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#listenUntilLost()
      } catch (error) {
        if (signal.aborted) return
        this.#reportFailure(error)
        if (error instanceof PoolerInBetween) return
      }
      await sleep(this.#retryMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
      this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS)
    }
  }

  /** Throws when the connection is lost; returns when stopped. */
  async #listenUntilLost(): Promise<void> {
    const { subscribe, onPayload, onStarted } = this.#options
    const client = this.#createClient(await findAddress(this.#options.databaseUrl))
    const lost = this.#untilLost(client)
    try {
      await Promise.race([client.connect(), lost])
      if (this.#stopping.signal.aborted) return
      const arrived = untilNotified(client, onPayload)
      const [row] = await this.#query(client, subscribe, [])
      await Promise.race([this.#test(client, arrived, row?.['backend_pid']), lost])
      if (this.#stopping.signal.aborted) return
      onStarted(String(row?.['channel']))
      this.#isFailing = false
      this.#retryMs = FIRST_RETRY_MS
      await lost
    } finally {
      await endClient(client)
    }
  }

  async #test(client: pg.Client, arrived: (token: string) => Promise<true>, backendPid: unknown) {
    const token = randomUUID()
    const tested = arrived(token)
    await this.#options.sendTest(token)
    const { signal } = this.#stopping
    const hasArrived = await Promise.race([
      tested,
      sleep(TEST_WAIT_MS, false, { signal }).catch(() => signal.aborted),
    ])
    if (hasArrived) return
    const missed = `no notification arrived within ${TEST_WAIT_MS / 1_000} s`
    // A pooler in session mode would have let the notification through.
    if (isDirect(client, backendPid)) throw new Error(missed)
    throw new PoolerInBetween(
      `${missed}: a pooler in transaction mode? Set UNSTUCK_DIRECT_URL to a direct address`,
    )
  }

  /** pg does not reconnect: it emits an error, an end, or both. */
  #untilLost(client: pg.Client): Promise<void> {
    const lost = new Promise<void>((resolve, reject) => {
      client.on('error', (error) => reject(error))
      client.on('end', () => reject(new Error('the connection was closed')))
      this.#endWait = resolve
    })
    // Nobody awaits it while the connection is being closed.
    lost.catch(() => {})
    return lost
  }

  #reportFailure(error: unknown): void {
    if (!this.#isFailing) this.#options.onFailed(`${messageOf(error)}; polling continues`)
    this.#isFailing = true
  }

  #createClient(connectionString: string): pg.Client {
    return new pg.Client({
      connectionString,
      application_name: 'unstuck listen',
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
      keepAlive: true,
      // Detects a silently lost server within half a minute.
      keepAliveInitialDelayMillis: 10_000,
    })
  }

  async #query(client: pg.Client, name: string, params: unknown[]): Promise<Record<string, unknown>[]> {
    const { schema, table } = this.#options
    const { rows } = await client.query(render(readQuery(name), { schema, table }), params)
    return rows as Record<string, unknown>[]
  }
}

/** A test is recognized by its token. */
function untilNotified(
  client: pg.Client,
  onPayload: (payload: string) => void,
): (token: string) => Promise<true> {
  const tests = new Map<string, () => void>()
  client.on('notification', ({ payload = '' }) => {
    onPayload(payload)
    tests.get(payload)?.()
  })
  return (token) =>
    new Promise((resolve) => {
      tests.set(token, () => resolve(true))
    })
}

/** Node reports one error per resolved address, and no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
