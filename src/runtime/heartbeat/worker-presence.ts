// Presence of a worker, in its heartbeat thread. While its lock is lost it shows life over the connection for heartbeats.
import { timing } from '../timing/timing.ts'

export interface Presence {
  /** Looks at the other workers from now on, unless two processes do already. */
  watch(): void
  /** An orderly leave. */
  stop(): Promise<void>
}

export interface PresenceListener {
  /** The lock is held, at the start and after every loss. */
  onPresent: () => void
  /** The lock is lost, or a session may have ended before it was known to hold it. The worker has `graceMs` to come back. */
  onLost: (error: Error, graceMs: number) => void
  /** Presence is impossible here. */
  onOff: (reason: string) => void
  /** A look found workers that are gone. */
  onGone: () => void
}

export interface WorkerPresenceOptions {
  /** Opens the session that holds the lock. */
  start: (listener: PresenceListener) => Presence
  /** Extends all leases now. */
  beat: () => void
  showLife: () => Promise<void>
  /** When the last heartbeat with an answer was sent; see `AnswerListener`. */
  lastBeatAtMs: () => number
  /** No lock and no answer: the jobs may be taken back. */
  onAtRisk: (reason: string) => void
  onOff: (reason: string) => void
  onGone: () => void
}

const SIGN_MS = 500

export function keepPresence(options: WorkerPresenceOptions): Presence {
  let lastSignAtMs = 0
  let lostAtMs: number | undefined

  function returned(): void {
    lostAtMs = undefined
    // Its jobs may have been taken back meanwhile: trust no lease before this is answered.
    options.beat()
  }

  function lost(error: Error, graceMs: number): void {
    if (lostAtMs !== undefined) return
    lostAtMs = timing.epochMs()
    const lossAtMs = lostAtMs
    options.beat()
    void showLife(lossAtMs)
    timing
      .setTimeout(() => {
        const isProven = Math.max(lastSignAtMs, options.lastBeatAtMs()) >= lossAtMs
        if (lostAtMs === lossAtMs && !isProven) options.onAtRisk(error.message)
      }, graceMs / 2)
      .unref()
  }

  async function showLife(lossAtMs: number): Promise<void> {
    const isStillLost = () => lostAtMs === lossAtMs
    while (isStillLost()) {
      const sentAtMs = timing.epochMs()
      await options.showLife().then(
        () => {
          lastSignAtMs = sentAtMs
        },
        () => {},
      )
      await new Promise<void>((resolve) => void timing.setTimeout(resolve, SIGN_MS).unref())
    }
  }

  const { onOff, onGone } = options
  const presence = options.start({ onPresent: returned, onLost: lost, onOff, onGone })
  return {
    watch: () => presence.watch(),
    async stop() {
      lostAtMs = undefined
      await presence.stop()
    },
  }
}
