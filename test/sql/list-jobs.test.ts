// A page looks at 10,000 rows at most: what lies behind them is found by the pages after it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPage } from '../../src/commands/jobs/fill-page.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const oldest = '00000000-0000-7000-8000-000000000001'
const profile = nativeProfile('unstuck')

let database: TestDatabase
let store: JobStore

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  await database.pool.query(`
    insert into unstuck.jobs (id, type, status, error_code, created_at)
    select gen_random_uuid(), 'a', 'dead', 'X', '2026-02-01T00:00:00Z' from generate_series(1, 10001);
    insert into unstuck.jobs (id, type, status, owner, error_code) values ('${oldest}', 'rare', 'dead', 'ana', 'Y')`)
})

afterAll(() => database.drop())

describe('a job behind 10,000 that do not fit', () => {
  it('OPS-9 is not on the first page, which goes on all the same', async () => {
    const first = await store.listJobs({ owner: 'ana' })
    expect(first.jobs).toEqual([])
    expect(first.next).not.toBeNull()
    const second = await store.listJobs({ owner: 'ana' }, { cursor: first.next ?? '' })
    expect(second.jobs.map(({ id }) => id)).toEqual([oldest])
    expect(second.next).toBeNull()
  })

  it('OPS-9 is on the first page that is filled', async () => {
    const { jobs, next } = await fillPage(store, { owner: 'ana' }, { limit: 5 })
    expect(jobs.map(({ id }) => id)).toEqual([oldest])
    expect(next).toBeNull()
  })

  it.each(['owner', 'type'])(
    'OPS-16 is on the first page with an index of %s for searches',
    async (column) => {
      const where = column === 'owner' ? 'where owner is not null' : ''
      await database.pool.query(`create index by_${column} on unstuck.jobs (${column}, id) ${where}`)
      const other = column === 'owner' ? { owner: 'ana' } : { type: 'rare' }
      const { jobs, next, searchedTo } = await store.listJobs(other)
      expect(jobs.map(({ id }) => id)).toEqual([oldest])
      expect([next, searchedTo]).toEqual([null, null])
      await database.pool.query(`drop index unstuck.by_${column}`)
    },
  )

  it('OPS-16 is not on the first page without one, which says how far it looked', async () => {
    const first = await store.listJobs({ type: 'rare' })
    expect(first.jobs).toEqual([])
    expect(first.searchedTo).toEqual(new Date('2026-02-01T00:00:00Z'))
  })

  it('OPS-9 is missing from the groups, and they say that they are not complete', async () => {
    const { groups, isComplete } = await store.groupDeadJobs()
    expect(groups).toMatchObject([{ code: 'X', jobs: 10_000 }])
    expect(isComplete).toBe(false)
  })
})
