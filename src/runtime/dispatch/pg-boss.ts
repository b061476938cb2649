import type { DispatchedJob } from '../../store/ports/dispatch-store.ts'
import type { DispatchAdapter } from './dispatcher.ts'

export type { DispatchedJob } from '../../store/ports/dispatch-store.ts'
export type { DispatchAdapter } from './dispatcher.ts'

/** The methods used of a started `PgBoss`. */
export interface PgBossLike {
  insert(name: string, jobs: PgBossInsert[], options?: { returnId?: boolean }): Promise<string[] | null>
  getJobById(name: string, id: string): Promise<object | null>
}

export interface PgBossInsert {
  id: string
  data: object
  /** Seconds from now, by the clock of pg-boss's database. */
  startAfter?: number
}

export interface PgBossDispatchOptions {
  /** The pg-boss queue of a job, which has to exist. Default: the job's queue. */
  queueName?: (job: DispatchedJob) => string
  /** Payload for the pg-boss worker. Default: `{ jobId }`. */
  data?: (job: DispatchedJob) => object
}

export function pgBossDispatch(boss: PgBossLike, options: PgBossDispatchOptions = {}): DispatchAdapter {
  const { queueName = ({ queue }) => queue, data = ({ jobId }) => ({ jobId }) } = options
  return {
    async publish(jobs) {
      for (const name of new Set(jobs.map(queueName))) {
        const batch = jobs.filter((job) => queueName(job) === name)
        const inserts = batch.map((job) => toInsert(job, data(job)))
        const inserted = await boss.insert(name, inserts, { returnId: true })
        await assertKnown(boss, name, inserts, inserted ?? [])
      }
    },
  }
}

/** The dispatch's id is the id of the pg-boss job: a dispatch that is published twice is one job there. */
function toInsert({ dispatchId, runInMs }: DispatchedJob, data: object): PgBossInsert {
  return { id: dispatchId, data, ...(runInMs > 0 ? { startAfter: runInMs / 1000 } : {}) }
}

/** pg-boss skips jobs it already has and, silently, jobs that a queue policy forbids. */
async function assertKnown(boss: PgBossLike, name: string, inserts: PgBossInsert[], inserted: string[]) {
  for (const { id } of inserts) {
    if (inserted.includes(id) || (await boss.getJobById(name, id)) !== null) continue
    throw new Error(`pg-boss did not take job ${id}: the policy of queue ${name} allows no more jobs now`)
  }
}
