// The same suite on a table whose times have no zone, or are integers.
import { afterAll, beforeAll, describe } from 'vitest'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { zonelessProfile, zonelessTable, zonelessTables } from '../support/tables/zoneless-table.ts'

describe('a table with times of other types', () => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({
      profile: zonelessProfile,
      table: zonelessTable,
      applicationSql: zonelessTables,
    })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL zoneless table', () => bench.open(), { leavesOutShared: true, isTeams: true })
})
