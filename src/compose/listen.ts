// Listeners to the notifications of a table.
import { type HintListenerOptions, listenToHints } from '../runtime/listening/listen-to-hints.ts'
import { type Listener, type ListenerOptions, startListener } from '../runtime/listening/listener.ts'
import {
  type NotificationAddress,
  openNotificationConnection,
} from '../store/postgres/connection/notifications.ts'
import { movesOf } from '../store/postgres/connection/schema-owners.ts'

export type { Listener } from '../runtime/listening/listener.ts'

/** Opened from the address of the table. */
type Opened = 'open' | 'onMoved'

export interface ListenOptions extends NotificationAddress, Omit<HintListenerOptions, Opened> {}

export interface ListenToWaitsOptions
  extends NotificationAddress,
    Omit<ListenerOptions, Opened | 'onPayload'> {
  /** The process with this number waits for a job that has ended. */
  onEnded: (channel: number) => void
}

export function listen(options: ListenOptions): Listener {
  return listenToHints({
    ...options,
    open: () => openNotificationConnection(options, 'listen_to_hints'),
    onMoved: movesOf(options.databaseUrl),
  })
}

/** Ends of jobs that a process of this table waits for. */
export function listenToWaits({ onEnded, ...options }: ListenToWaitsOptions): Listener {
  return startListener({
    ...options,
    open: () => openNotificationConnection(options, 'listen_to_waits'),
    onMoved: movesOf(options.databaseUrl),
    onPayload: (payload) => void (/^-?\d+$/.test(payload) && onEnded(Number(payload))),
  })
}
