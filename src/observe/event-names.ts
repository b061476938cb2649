// The names of the events, for callers without types: a listener of a misspelt name would never be called.
import { requireKnownNames } from '../errors/index.ts'
import type { EventName } from './events.ts'

const known: Record<EventName, true> = {
  'worker:started': true,
  'worker:draining': true,
  'worker:stopped': true,
  'worker:unreported': true,
  'jobs:enqueued': true,
  'job:started': true,
  'job:ended': true,
  'job:failed': true,
  'job:aborted': true,
  'job:at-risk': true,
  'job:hung': true,
  'claim:failed': true,
  'limit:reached': true,
  'gateway:called': true,
  'breaker:changed': true,
  'breaker:failed': true,
  'heartbeat:sent': true,
  'heartbeat:failed': true,
  'heartbeat:recovered': true,
  'shard:silent': true,
  'shard:answered': true,
  'loop:lagged': true,
  'presence:off': true,
  'job:reaped': true,
  'sweep:done': true,
  'sweep:failed': true,
  'prune:done': true,
  'prune:failed': true,
  'trends:failed': true,
  'dispatch:done': true,
  'dispatch:failed': true,
  'delivery:done': true,
  'delivery:failed': true,
  'schedule:enqueued': true,
  'schedule:failed': true,
  'type:unhandled': true,
  'jobs:not-understood': true,
  'listen:started': true,
  'listen:failed': true,
  'service:standing-by': true,
  'config:warned': true,
}
const names = Object.keys(known)

export function requireEventName(name: string): void {
  requireKnownNames('on', [String(name)], names, 'event')
}
