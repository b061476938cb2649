// The same suite on a table that tries the renderer.
import { afterAll, beforeAll, describe } from 'vitest'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { oddProfile, oddTable, oddTables } from '../support/tables/odd-table.ts'

describe('a table with odd names and types', () => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({ profile: oddProfile, table: oddTable, applicationSql: oddTables })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL odd table', () => bench.open(), { leavesOutShared: true, isTeams: true })
})
