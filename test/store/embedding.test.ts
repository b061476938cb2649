import { afterAll, beforeAll, describe } from 'vitest'
import { embeddingProfile } from '../../src/profile/embedding.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { embeddingTables } from '../support/tables/embedding-tables.ts'

const [table] = embeddingProfile.tables

describe('embedding table', () => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({ profile: embeddingProfile, table, applicationSql: embeddingTables })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL embedding', () => bench.open(), { leavesOutShared: true, isTeams: true })
})
