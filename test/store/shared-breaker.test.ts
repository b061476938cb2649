// Breakers and limits belong to what they protect: every attached table shares them by name.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { clipTables } from '../support/tables/clip-tables.ts'

const failed = Array.from({ length: 20 }, () => ({ isFailure: true }))
const claim = { workerId: 'worker-1', queues: ['asr'], limit: 10 }

describe('two tables of one install', () => {
  let bench: PostgresBench
  let clip: JobStore<SqlClient>
  let native: JobStore<SqlClient>
  beforeAll(async () => {
    const [table] = clipProfile.tables
    bench = await createPostgresBench({ profile: clipProfile, table, applicationSql: clipTables })
    const client = bench.database.pool
    clip = createPostgresStore({ client, table })
    native = createPostgresStore({ client, table: nativeProfile('unstuck').tables[0] })
  })
  beforeEach(async () => {
    await bench.open()
    await bench.database.pool.query('truncate unstuck.jobs')
    await Promise.all([clip, native].map((store) => store.enqueueJobs([{ type: 'asr' }])))
  })
  afterAll(() => bench.close())

  it('BREAK-4 what opens through one table holds the jobs of the other', async () => {
    await clip.mapDependency('asr', 'gateway')
    await native.mapDependency('asr', 'gateway')
    await native.writeBreaker('gateway', { mode: 'hold' })
    await clip.recordCalls('gateway', failed)
    expect(await native.claimJobs(claim)).toEqual([])
    const [breaker] = await native.listBreakers()
    expect(breaker?.queues).toEqual([
      { attachment: 'jobs', queue: 'asr' },
      { attachment: 'native', queue: 'asr' },
    ])
  })

  it('BREAK-4 a queue of the same name in another table is another queue', async () => {
    await clip.mapDependency('asr', 'gateway')
    await clip.holdBreaker('gateway')
    expect(await clip.claimJobs(claim)).toEqual([])
    expect(await native.claimJobs(claim)).toHaveLength(1)
    await clip.resumeBreaker('gateway')
    await clip.pauseQueue('asr')
    await native.enqueueJobs([{ type: 'asr' }])
    expect(await clip.claimJobs(claim)).toEqual([])
    expect(await native.claimJobs(claim)).toHaveLength(1)
  })

  it('BREAK-4 neither a pause nor a breaker of another table holds a queue, whatever rules its own table has', async () => {
    // With no rule at all a claim would not look for any.
    await native.pauseQueue('mail')
    await native.mapDependency('mail', 'smtp')
    await native.enqueueJobs([{ type: 'asr' }])
    await clip.pauseQueue('asr')
    expect(await native.claimJobs({ ...claim, limit: 1 })).toHaveLength(1)
    await clip.resumeQueue('asr')
    await clip.mapDependency('asr', 'gateway')
    await clip.holdBreaker('gateway')
    expect(await native.claimJobs({ ...claim, limit: 1 })).toHaveLength(1)
    expect(await clip.claimJobs(claim)).toEqual([])
  })

  it('RATE-1 a limit is one bucket for all tables', async () => {
    const limit = { key: 'gateway', ratePerS: 0.001, burst: 3 }
    expect((await clip.takeTokens([limit], 2)).granted).toBe(2)
    expect((await native.takeTokens([limit], 2)).granted).toBe(1)
  })
})
