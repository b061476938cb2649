// The same suite on a table without a status.
import { afterAll, beforeAll, describe } from 'vitest'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { timedProfile, timedTable, timedTables } from '../support/tables/timed-table.ts'

describe('a table with its state in times', () => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({
      profile: timedProfile,
      table: timedTable,
      applicationSql: timedTables,
    })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL timed table', () => bench.open(), { leavesOutShared: true, isTeams: true })
})
