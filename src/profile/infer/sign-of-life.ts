// Names of the times at which a worker was last seen with a job.
import { inSnakeCase } from './snake-case.ts'

export const TAKEN = '(locked|claimed|leased|reserved|picked|taken|acquired|dequeued)'
export const HEARTBEAT = /(^|_)(heartbeat|heartbeats|last_seen|last_ping|keepalive)(_at|_on)?$/
export const LOCK = new RegExp(`^${TAKEN}_(at|on|time)$`)
export const START =
  /^(processing_)?(started|attempted|last_attempt|last_attempted|last_run|picked_up)(_at|_on|_time)?$/
export const UPDATE = /^(updated|modified|changed|last_updated|last_modified)(_at|_on)?$/

export function isSignOfLife(name: string): boolean {
  const plain = inSnakeCase(name)
  return [HEARTBEAT, LOCK, START, UPDATE].some((pattern) => pattern.test(plain))
}
