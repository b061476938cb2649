import { afterAll, beforeAll } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { describeJobStore } from '../../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../../support/postgres-harness.ts'
import { openPoolThrough } from './through-pgbouncer.ts'

const profile = nativeProfile('unstuck')
let bench: PostgresBench

beforeAll(async () => {
  bench = await createPostgresBench({ profile, table: profile.tables[0], openPool: openPoolThrough })
})
afterAll(() => bench.close())

describeJobStore('PostgreSQL native through PgBouncer', () => bench.open(), {
  alwaysHasUpdateTime: true,
  leavesOutShared: true,
})
