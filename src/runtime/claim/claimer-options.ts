import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../../store/job-store.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import type { Heartbeat } from '../heartbeat/heartbeat.ts'

export interface ClaimerOptions<Tx> {
  store: JobStore<Tx>
  workerId: string
  handlers: RegisteredHandler<Tx>[]
  heartbeat: Heartbeat
  policy: PolicyOverride
  events: RuntimeEventEmitter
  concurrency: number
  /** After nothing was claimed, the next claim follows after a random time between these. */
  pollMs: (isHeldBack: boolean) => [least: number, most: number]
  /** Whether a job that becomes due is announced. */
  areHintsTrusted: () => boolean
  freeSlots: () => number
  canClaim: () => boolean
  /** Starts waiting jobs in free slots: see `take`. */
  startWaiting: () => void
  /** Aborted when no job may start any more. */
  stopping: AbortSignal
  /** Aborted when no call may be repeated any more. */
  leaving: AbortSignal
}
