// Publishes jobs that wait again to pg-boss (11 or newer). pg-boss is the team's own: nothing of it is imported here.
import type { DispatchAdapter } from '../runtime/dispatcher.ts'
import type { DispatchedJob } from '../store/ports/dispatch-store.ts'

export type { DispatchAdapter } from '../runtime/dispatcher.ts'
export type { DispatchedJob } from '../store/ports/dispatch-store.ts'

/** What is needed of a `PgBoss` that was started. */
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
  /** The pg-boss queue of a job, which has to exist; the job's own queue where absent. */
  queueName?: (job: DispatchedJob) => string
  /** What pg-boss hands to its worker; `{ jobId }` where absent. */
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

/** The dispatch's id is the id of the pg-boss job, so that one that is published twice is one job there. */
function toInsert({ dispatchId, runInMs }: DispatchedJob, data: object): PgBossInsert {
  return { id: dispatchId, data, ...(runInMs > 0 ? { startAfter: runInMs / 1000 } : {}) }
}

/** pg-boss leaves out what it has already, and also, without a word, what a policy of the queue forbids. */
async function assertKnown(boss: PgBossLike, name: string, inserts: PgBossInsert[], inserted: string[]) {
  for (const { id } of inserts) {
    if (inserted.includes(id) || (await boss.getJobById(name, id)) !== null) continue
    throw new Error(`pg-boss did not take job ${id}: the policy of queue ${name} allows no more jobs now`)
  }
}
