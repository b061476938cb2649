// Listens to notifications over a connection of its own, after a test at the start that they arrive. They only save time (C16):
// whoever listens polls as well.
import type { NotificationConnection } from '../../store/notification-connection.ts'
import { timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'
import { withResolvers } from '../timing/with-resolvers.ts'

export interface ListenerOptions {
  /** Creates a connection, not connected yet. It must not lead through a pooler in transaction mode. */
  open: () => NotificationConnection
  /** Calls the listener when connections go to another server. Returns the function that ends the notices. */
  onMoved?: ((listener: () => void) => () => void) | undefined
  /**
   * Sends a notification with this payload over another connection: a backend delivers its own before it answers, so even a
   * pooler in transaction mode would deliver those to the sender.
   */
  sendTest: (payload: string) => Promise<unknown>
  onPayload: (payload: string) => void
  onStarted: (channel: string) => void
  /** Nothing arrives until the next `onStarted`. Called once per interruption. */
  onFailed: (reason: string) => void
}

export interface Listener {
  stop(): Promise<void>
}

const TEST_WAIT_MS = 2_000
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 30_000

export function startListener(options: ListenerOptions): Listener {
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
  readonly #options: ListenerOptions
  readonly #stopping = new AbortController()
  #isFailing = false
  #retryMs = FIRST_RETRY_MS
  #interrupt: () => void = () => {}
  readonly #ignoreMoves: () => void

  constructor(options: ListenerOptions) {
    this.#options = options
    // Notifications reach the listeners of the server that sends them.
    this.#ignoreMoves = options.onMoved?.(() => this.#interrupt()) ?? (() => {})
  }

  stop(): void {
    this.#stopping.abort()
    this.#ignoreMoves()
    this.#interrupt()
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
      await wait(this.#retryMs * (0.5 + timing.random() / 2), signal)
      this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS)
    }
  }

  /** Throws when the connection is lost; returns when stopped, or when another server is to be asked. */
  async #listenUntilLost(): Promise<void> {
    const { promise: interrupted, resolve: interrupt } = withResolvers<'interrupted'>()
    this.#interrupt = () => interrupt('interrupted')
    const connection = this.#options.open()
    try {
      const connected = await Promise.race([connection.connect(), interrupted])
      if (connected === 'interrupted') return
      const over = Promise.race([interrupted, connection.untilLost().then((error) => Promise.reject(error))])
      // Nobody awaits it while the connection is being closed.
      over.catch(() => {})
      const channel = await Promise.race([this.#subscribe(connection), over])
      if (channel === 'interrupted') return
      this.#options.onStarted(channel)
      this.#isFailing = false
      this.#retryMs = FIRST_RETRY_MS
      await over
    } finally {
      await connection.end()
    }
  }

  /** Resolves with the channel once a test has arrived over it. */
  async #subscribe(connection: NotificationConnection): Promise<string> {
    const token = timing.randomUUID()
    const { promise: arrived, resolve: arrive } = withResolvers<true>()
    const { channel, isDirect } = await connection.subscribe((payload) => {
      this.#options.onPayload(payload)
      if (payload === token) arrive(true)
    })
    await this.#options.sendTest(token)
    const waiting = new AbortController()
    const { signal } = this.#stopping
    const late = wait(TEST_WAIT_MS, signal, waiting.signal).then(() => signal.aborted)
    const hasArrived = await Promise.race([arrived, late])
    waiting.abort()
    if (hasArrived) return channel
    const missed = `no notification arrived within ${TEST_WAIT_MS / 1_000} s`
    // A pooler in session mode would have let the notification through.
    if (isDirect) throw new Error(missed)
    throw new PoolerInBetween(
      `${missed}: a pooler in transaction mode? Set UNSTUCK_DIRECT_URL to a direct address`,
    )
  }

  #reportFailure(error: unknown): void {
    if (!this.#isFailing) this.#options.onFailed(`${messageOf(error)}; polling continues`)
    this.#isFailing = true
  }
}

/** Node reports one error per resolved address, and no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
