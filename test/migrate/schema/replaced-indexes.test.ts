// A database of an earlier version, with indexes that this one has replaced.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const schema = 'unstuck'

let database: TestDatabase
beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query(`
    drop index unstuck.jobs_group_members;
    create index jobs_group_heads on unstuck.jobs ((coalesce(queue, type)), group_key, id)
      where status = 'waiting' and group_key is not null;
    create index jobs_group_running on unstuck.jobs ((coalesce(queue, type)), group_key)
      where status in ('running') and group_key is not null`)
})
afterAll(() => database.drop())

it('OPS-7 RATE-7 an upgrade drops a replaced index of the native table once its successor stands', async () => {
  const steps: string[] = []
  await migrateUp({
    databaseUrl: database.url,
    schema,
    profile: nativeProfile(schema),
    onStep: (step) => void steps.push(step),
  })
  const { rows } = await database.pool.query<{ name: string }>(
    `select indexname as name from pg_indexes where schemaname = 'unstuck' and indexname like 'jobs_group%' order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(['jobs_group_members', 'jobs_grouped'])
  const stepOf = (text: string) => steps.findIndex((step) => step.includes(text))
  expect(stepOf('jobs_group_members')).toBeGreaterThanOrEqual(0)
  expect(stepOf('jobs_group_heads dropped')).toBeGreaterThan(stepOf('jobs_group_members'))
})
