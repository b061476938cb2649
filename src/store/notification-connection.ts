// A connection that listens to notifications (C16).

export interface Subscription {
  channel: string
  /** False if a pooler may be in between. */
  isDirect: boolean
}

export interface NotificationConnection {
  connect(): Promise<void>
  /** From now on, `onPayload` gets every notification. */
  subscribe(onPayload: (payload: string) => void): Promise<Subscription>
  /** From now on. */
  untilLost(): Promise<Error>
  /** Also while it connects. */
  end(): Promise<void>
}
