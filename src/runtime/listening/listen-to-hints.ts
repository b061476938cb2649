// Hints of jobs to claim, and of jobs that are asked to stop.
import { readCancels, readHints } from '../../policy/wake/read-hints.ts'
import { hintForAll, type JobHint } from '../../policy/wake/wake-turn.ts'
import { type Listener, type ListenerOptions, startListener } from './listener.ts'

export interface HintListenerOptions extends Omit<ListenerOptions, 'onPayload'> {
  /** There are jobs to claim, or will be. Also after each `onStarted`, for missed hints; the caller coalesces. */
  onHint: (hint: JobHint) => void
  /** Jobs under leases with these numbers are asked to stop. */
  onCancels: (leaseNumbers: number[]) => void
}

export function listenToHints({ onHint, onCancels, ...options }: HintListenerOptions): Listener {
  return startListener({
    ...options,
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
