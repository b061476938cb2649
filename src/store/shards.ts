// A shard is a complete engine in one schema of one server. Several of them behind one store are store/sharded; the runtime
// needs to know them where one that is down must not delay the others (docs/adr/0038).
import type { NewJob } from '../job/job.ts'
import type { JobStore } from './job-store.ts'

export interface Shard<Tx = never> {
  /** In the ids of its jobs: 0 to 4095, never changed. */
  readonly number: number
  /** For people, without a password. */
  readonly name: string
  readonly store: JobStore<Tx>
  /** Its jobs are run, and no new ones are enqueued there. */
  readonly isDraining: boolean
  /** False while a worker cannot extend leases there (C6). */
  canClaim: () => boolean
}

export interface Shards<Tx = never> {
  readonly all: readonly Shard<Tx>[]
  /** The shard of a job, by its id. */
  of(jobId: string): Shard<Tx>
  /** The shard where a new job belongs: by its dedupe key, else by the configured route. */
  forJob(job: NewJob): Shard<Tx>
  /** The shard of a key of the application's choice: always the same one, unless shards are added or drained. */
  forKey(key: string): Shard<Tx>
}

/** How a job without a dedupe key is placed: with others of its owner, of its queue, or anywhere. */
export type ShardRoute = 'owner' | 'queue' | 'spread'

export const shardRoutes: readonly ShardRoute[] = ['owner', 'queue', 'spread']
/** As many as fit into 12 bits of an id. */
export const MAX_SHARDS = 4_096

/** Of a native id: the last three digits of the fourth group (docs/adr/0024). NaN if it is another text. */
export function shardNumberOf(jobId: string): number {
  return Number.parseInt(jobId.slice(20, 23), 16)
}
