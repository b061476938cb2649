import { afterAll, beforeAll, describe } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { clipTables } from '../support/tables/clip-tables.ts'

// The same suite and the same SQL files, on the tables a team already has.
describe.each(clipProfile.tables)('clip table $table', (table) => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({ profile: clipProfile, table, applicationSql: clipTables })
  })
  afterAll(() => bench.close())
  describeJobStore(`PostgreSQL clip ${table.table}`, () => bench.open(), {
    alwaysHasUpdateTime: table.table === 'jobs',
    leavesOutShared: table.table !== 'jobs',
    isTeams: true,
  })
})
