// The reasons of an explanation, and those that waiting and running jobs share.
import type { JobFacts } from './job-facts.ts'
import { describeHolder } from './lock-holder.ts'

export type ReasonCode =
  | 'SUCCEEDED'
  | 'CANCELLED'
  | 'DEAD_MAX_ATTEMPTS'
  | 'DEAD_PERMANENT'
  | 'DEAD_CRITICAL'
  | 'DEAD_EXPIRED'
  | 'LEASED'
  | 'WORKER_ABSENT'
  | 'WORKER_GONE'
  | 'CANCEL_ASKED'
  | 'LEASE_OVER_AWAITING_REAPER'
  | 'NO_REAPER'
  | 'HELD'
  | 'LEASE_UNKNOWN'
  | 'OBSERVED'
  | 'BUDGET_SPENT'
  | 'EXPIRED'
  | 'QUEUE_PAUSED'
  | 'QUEUE_FULL'
  | 'GROUP_FULL'
  | 'GROUP_ORDER'
  | 'BREAKER_HELD'
  | 'BREAKER_OPEN'
  | 'BREAKER_PROBING'
  | 'BREAKER_UNHEARD'
  | 'SCHEDULED'
  | 'BACKOFF'
  | 'RELEASED_OFTEN'
  | 'LAST_CHANCE'
  | 'ROW_LOCKED'
  | 'NO_WORKER_FOR_TYPE'
  | 'ALL_SLOTS_BUSY'
  | 'AHEAD_IN_QUEUE'
  | 'RUNNABLE'

type Act =
  | 'sweep'
  | 'resume-queue'
  | 'resume-breaker'
  | 'retry'
  | 'raise-attempts'
  | 'run-now'
  | 'cancel'
  | 'drain-worker'
  | 'start-worker'
  | 'start-reaper'
  | 'set-mode'
  | 'end-session'

export interface Remedy {
  act: Act
  /** Its queue, breaker, job, worker, type, mode or session. */
  subject: string
  effect: string
  command: string
}

export interface Reason {
  code: ReasonCode
  /** This reason alone keeps the job from running, or from being requeued. */
  isBlocking: boolean
  message: string
  /** Time until it ends; null if unknown. */
  untilMs: number | null
  /** The acts that end it, the usual one first. Set by `explainJob`. */
  remedies?: Remedy[]
}

export interface Explanation {
  verdict: 'ended' | 'running' | 'overdue' | 'blocked' | 'runnable'
  /** Blocking reasons first. */
  reasons: Reason[]
  /** Earliest start; null if it will not run, runs already, or the time is unknown. */
  runsInMs: number | null
  sentence: string
}

export const block = (code: ReasonCode, message: string, untilMs: number | null): Reason => {
  return { code, isBlocking: true, message, untilMs }
}

export const note = (code: ReasonCode, message: string): Reason => {
  return { code, isBlocking: false, message, untilMs: null }
}

export const observeRemedy = 'enable it with unstuck mode reap'

export function count(number: number, one: string, many = `${one}s`): string {
  return number === 0 ? '' : `${number} ${number === 1 ? one : many}`
}

/** ` by ana: deploy` */
export function told(by: string | null, reason: string | null): string {
  return `${by === null ? '' : ` by ${by}`}${reason === null ? '' : `: ${reason}`}`
}

export function observed({ isObserved }: JobFacts): Reason[] {
  const message = 'the table is in observe mode: unstuck changes no rows'
  return isObserved ? [block('OBSERVED', message, null)] : []
}

export function locked({ isLocked, lockedBy }: JobFacts): Reason[] {
  if (isLocked !== true) return []
  if (lockedBy === null) return [block('ROW_LOCKED', 'another transaction holds a lock on its row', null)]
  return [block('ROW_LOCKED', `by ${describeHolder(lockedBy)}`, null)]
}

export function counts({ failures, crashes, timeouts, attempt, maxAttempts }: JobFacts): string {
  const parts = [count(failures, 'failure'), count(crashes, 'crash', 'crashes'), count(timeouts, 'timeout')]
  const spent = parts.filter((part) => part !== '').join(', ')
  return `attempt ${attempt}, maximum ${maxAttempts}${spent === '' ? '' : `, ${spent}`}`
}
