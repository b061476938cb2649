// The interface of a queue under test. The adapters are plain JavaScript, because the peers' types may not be installed.
import type { SqlClient } from '../../dist/store/postgres/index.js'
import type { ServerKind } from '../processes/servers.ts'

export interface Contender {
  name: string
  /** Settings, in the words of its documentation. */
  settings: string
  needs: ServerKind
  /** Handles hundreds of jobs per second rather than thousands, and gets fewer of them. */
  isSlow?: boolean
  /** A program that takes the arguments and messages of `processes/child.mjs`, if it is not written in JavaScript. */
  program?: string
  /** Default of `types`: `noop` alone. */
  install: (url: string, types?: string[]) => Promise<void>
  openProducer: (url: string) => Promise<Producer>
  /** Runs jobs in this process and reports each handler start. Handlers of unstuck await `onJob`; the others return at once. */
  startWorker(
    url: string,
    onJob: (payload: Payload) => Promise<void> | undefined,
  ): Promise<{ stop(): Promise<void> }>
  /** The same with the defaults of its documentation, and a handler that awaits `onJob`. Missing if a rescue takes too long. */
  startDefaultWorker?(
    url: string,
    onJob: (payload: Payload) => Promise<void> | undefined,
  ): Promise<{ stop(): Promise<void> }>
  /** Why it is missing: when the job of a killed worker runs again by default. */
  rescue?: string
  /** Runs at most so many handlers at once, and awaits `onJob` in each. Missing if the contender cannot, or has a `program`. */
  startHandlers?(
    url: string,
    onJob: (payload: Payload) => Promise<void> | undefined,
    crew: Crew,
  ): Promise<{ stop(): Promise<void> }>
  /** The table that a claim locks rows of, if it is in PostgreSQL. */
  jobTable?: string
  /** Its settings with handlers that wait. Default: `settings`. */
  handlerSettings?: string
  countUnfinished(url: string): Promise<number>
}

export interface Crew {
  concurrency: number
  /** Types of jobs, each with a handler. */
  types: string[]
}

/** How a worker process works. */
export interface WorkPlan extends Partial<Crew> {
  /** Option of unstuck. */
  pollMs?: [least: number, most: number]
  /** Counts what is allocated. */
  isProfiled?: boolean
}

export interface Payload {
  i: number
  sentAtMs?: number
  /** Duration of its handler. */
  handlerMs?: number
  /** Default: `noop`. */
  type?: string
}

export interface Producer {
  addOne: (payload: Payload) => Promise<unknown>
  addMany: (payloads: Payload[]) => Promise<unknown>
  /** Missing if it cannot join the caller's transaction. */
  addInTransaction?: (client: SqlClient, payload: Payload) => Promise<unknown>
  close(): Promise<void>
}

export const contenderIds = [
  'unstuck',
  'unstuck-deleted',
  'unstuck-unfenced',
  'unstuck-clip',
  'unstuck-executor',
  'unstuck-events',
  'unstuck-metrics',
  'unstuck-tracing',
  'raw',
  'graphile-worker',
  'graphile-worker-fast',
  'pg-boss',
  'pg-boss-notify',
  'bullmq-redis',
  'bullmq-redis-fsync',
  'bullmq-postgres',
  'river',
  'bare-node',
] as const

export type ContenderId = (typeof contenderIds)[number]

/**
 * `single 20 1000`: 1,000 jobs by 20 concurrent callers; `batch 100 5000`: in batches of 100; `paced 50 500`: 50 per second;
 * `offered 5000 20000`: 5,000 per second, those due together in one call.
 */
export interface Addition {
  mode: 'single' | 'batch' | 'transaction' | 'paced' | 'offered'
  width: number
  count: number
  /** Durations of the handlers, in rotation. Default: 0. */
  handlersMs?: number[]
  /** Types of the jobs, in rotation. Default: `noop`. */
  types?: string[]
}

export interface WorkerReport {
  /** Handlers that began. */
  handled: number
  /** Handlers that ended. */
  ended: number
  firstAtMs: number | null
  /** Milliseconds since `sentAtMs`, for jobs that have it. */
  latenciesMs: number[]
  rssMb: number
  /** Since the first job. */
  cpuMs: number
  /** Since the start of the process. */
  processCpuMs: number
  /** Since it was first asked, if it is profiled. */
  allocatedBytes?: number
  gcMs?: number
}

/** Start and duration of a claim. */
export type TimedClaim = [atMs: number, tookMs: number]
