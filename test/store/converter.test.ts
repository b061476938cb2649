import { afterAll, beforeAll, describe } from 'vitest'
import { converterProfile } from '../../src/profile/converter.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { converterTables } from '../support/tables/converter-tables.ts'

const [table] = converterProfile.tables

describe('converter table', () => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({ profile: converterProfile, table, applicationSql: converterTables })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL converter', () => bench.open(), {
    alwaysHasUpdateTime: true,
    hasTextIds: true,
    leavesOutShared: true,
    isTeams: true,
  })
})
