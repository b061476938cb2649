import { afterAll, beforeAll, beforeEach } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createAttachedDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { runInProcess } from './in-process.ts'

/** The command line over a database of the calling file, in which each test finds no job. */
export class JobCommands {
  database!: TestDatabase
  store!: JobStore

  constructor() {
    beforeAll(async () => {
      this.database = await createAttachedDatabase()
      const [table] = nativeProfile('unstuck').tables
      this.store = createPostgresStore({ client: this.database.pool, table })
      await this.store.writePolicy({ failureBackoffStepsMs: [3_600_000] })
    })
    afterAll(() => this.database.drop())
    beforeEach(async () => {
      await this.database.pool.query(
        `truncate unstuck.jobs, unstuck.events, jobs, asr_jobs;
         delete from unstuck.breakers; delete from unstuck.pauses`,
      )
    })
  }

  readonly run = (...args: string[]) => runInProcess(args, { DATABASE_URL: this.database.url })

  readonly runJson = async (...args: string[]) => {
    const { stdout } = await this.run(...args, '--json')
    return JSON.parse(stdout) as Record<string, unknown>
  }

  readonly enqueue = async (fields: object = {}): Promise<string> => {
    const [job] = await this.store.enqueueJobs([{ type: 'asr', payload: { secret: 'x1' }, ...fields }])
    return job?.jobId ?? ''
  }

  /** The id of a new job that fails for good. */
  readonly die = async (code: string, reason: string): Promise<string> => {
    const jobId = await this.enqueue()
    const [claimed] = await this.store.claimJobs({ workerId: 'worker-9', queues: ['asr'], limit: 1 })
    if (claimed?.jobId !== jobId) throw new Error('another job was claimed')
    await this.store.failJobs([{ ...claimed, code, reason, isRetryable: false }])
    return jobId
  }

  readonly statusOf = async (jobId: string) => (await this.store.getJob(jobId))?.status ?? null
}
