// What every queue under test can do. The adapters are plain JavaScript, because the peers' types are there only where they are
// installed.
import type { SqlClient } from '../../dist/store/postgres/index.js'
import type { ServerKind } from '../processes/servers.ts'

export interface Contender {
  name: string
  /** What was set, in the words of its documentation. */
  settings: string
  needs: ServerKind
  /** Does hundreds of jobs a second, where the others do thousands: it gets fewer. */
  isSlow?: boolean
  install: (url: string) => Promise<void>
  openProducer: (url: string) => Promise<Producer>
  /** Runs jobs in this process and reports each as its handler starts. Those of unstuck end when `onJob` has; the others at once. */
  startWorker(
    url: string,
    onJob: (payload: Payload) => Promise<void> | undefined,
  ): Promise<{ stop(): Promise<void> }>
  countUnfinished(url: string): Promise<number>
}

export interface Payload {
  i: number
  sentAtMs?: number
  /** How long its handler waits. */
  handlerMs?: number
}

export interface Producer {
  addOne: (payload: Payload) => Promise<unknown>
  addMany: (payloads: Payload[]) => Promise<unknown>
  /** Absent where it cannot join a transaction of the caller. */
  addInTransaction?: (client: SqlClient, payload: Payload) => Promise<unknown>
  close(): Promise<void>
}

export const contenderIds = [
  'unstuck',
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
  'bare-node',
] as const

export type ContenderId = (typeof contenderIds)[number]

/**
 * `single 20 1000`: 20 callers at a time, 1,000 jobs; `batch 100 5000`: in batches of 100; `paced 50 500`: 50 a second;
 * `offered 5000 20000`: 5,000 a second, those that are due together in one call.
 */
export interface Addition {
  mode: 'single' | 'batch' | 'transaction' | 'paced' | 'offered'
  width: number
  count: number
  /** How long handlers wait, from job to job and over again. Default: not at all. */
  handlersMs?: number[]
}

export interface WorkerReport {
  handled: number
  firstAtMs: number | null
  /** Milliseconds from the moment of sending, of jobs that carry it. */
  latenciesMs: number[]
  rssMb: number
  cpuMs: number
}

/** When a claim was sent, and how long it took. */
export type TimedClaim = [atMs: number, tookMs: number]
