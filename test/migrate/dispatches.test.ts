import { afterEach, beforeEach, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { createPostgresStore, migrateUp } from '../../src/store/postgres/index.ts'
import { createAttachedDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await createAttachedDatabase()
})

afterEach(() => database.drop())

/** One job in each table that waits again and is to be published. */
async function noteOneEach(): Promise<void> {
  for (const table of clipProfile.tables) {
    const store = createPostgresStore({ client: database.pool, table })
    await store.writePolicy({ dispatch: 'requeued' })
    const [job] = await store.enqueueJobs([{ type: 'clip' }])
    const claimed = await store.claimJob(job?.jobId ?? '', { workerId: 'worker-1' })
    if (claimed === 'not-claimable') throw new Error('a new job cannot be claimed')
    await store.releaseJobs([claimed])
  }
}

async function notedTables(): Promise<string[]> {
  const { rows } = await database.pool.query<{ attachment: string }>(
    'select attachment from unstuck.dispatches order by attachment',
  )
  return rows.map(({ attachment }) => attachment)
}

it('OPS-5 what is to be published goes with its table, and with no other', async () => {
  await noteOneEach()
  expect(await notedTables()).toEqual(['asr_jobs', 'jobs'])
  await database.pool.query(`select unstuck.detach_table('asr_jobs')`)
  expect(await notedTables()).toEqual(['jobs'])
})

it('OPS-7 another install leaves what is to be published as it is', async () => {
  await noteOneEach()
  const read = async () => (await database.pool.query('select xmin, * from unstuck.dispatches')).rows
  const before = await read()
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
  expect(await read()).toEqual(before)
})
