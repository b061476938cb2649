// The interface of a queue under the same faults.
import type { PeerJob } from './make-jobs.ts'

/** Throws when the signal is aborted. */
export type Handle = (job: PeerJob, signal: AbortSignal | undefined) => Promise<void>
export type Note = (kind: string, fields: Record<string, unknown>) => void
export interface WorkerSetup {
  url: string
  workerId: string
  handle: Handle
  note: Note
}
export interface Contender {
  name: string
  /** A file of `chaos/sql/peers`. Records every accepted write. */
  auditSql: string
  /** A file of the same folder. */
  unfinishedSql: string
  /** Settings that differ from the defaults. */
  settings: Record<string, unknown>
  /** Throws if the package cannot be loaded. */
  version: () => Promise<string>
  install: (url: string) => Promise<void>
  openProducer: (
    url: string,
  ) => Promise<{ add: (job: PeerJob) => Promise<unknown>; close: () => Promise<unknown> }>
  startWorker: (setup: WorkerSetup) => Promise<{ stop: () => Promise<unknown> }>
  /** Called by the supervisor that saw the processes exit. */
  unlock?: (url: string, pools: string[]) => Promise<unknown>
}

/** Loaded on demand: a package that is not installed must not keep the others from running. */
const contenders = {
  unstuck: () => import('./contenders/unstuck.ts'),
  'pg-boss': () => import('./contenders/pg-boss.ts'),
  'graphile-worker': () => import('./contenders/graphile-worker.ts'),
  'graphile-worker-unlocked': () => import('./contenders/graphile-worker-unlocked.ts'),
  'bullmq-postgres': () => import('./contenders/bullmq-postgres.ts'),
}
export type ContenderId = keyof typeof contenders
export const contenderIds = Object.keys(contenders) as ContenderId[]

export function isContenderId(id: string): id is ContenderId {
  return contenderIds.some((known) => known === id)
}

export async function loadContender(id: ContenderId): Promise<Contender> {
  return (await contenders[id]()).contender
}
