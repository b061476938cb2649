import { afterAll, beforeAll } from 'vitest'
import { executorProfile } from '../../src/profile/executor.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { executorTables } from '../support/tables/executor-tables.ts'

// Two words for a running job, an error column of the team's own, and a lock time that goes with the lock.
let bench: PostgresBench
beforeAll(async () => {
  const [table] = executorProfile.tables
  bench = await createPostgresBench({ profile: executorProfile, table, applicationSql: executorTables })
})
afterAll(() => bench.close())
describeJobStore('PostgreSQL executor', () => bench.open(), {
  ignoresUpdateTime: true,
  leavesOutShared: true,
  isTeams: true,
})
