// The whole conformance suite, and the install, in databases where another role has planted operators, functions, casts and
// types on the caller's search_path.
import { afterAll, beforeAll, describe } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { describeJobStore } from '../../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../../support/postgres-harness.ts'
import { hostileObjects, hostileUrl, openHostilePool } from '../../support/tables/hostile-objects.ts'
import {
  oddProfile,
  oddTable,
  oddTables,
  varyingProfile,
  varyingTable,
  varyingTables,
} from '../../support/tables/odd-table.ts'

const hostile = { openPool: openHostilePool, installUrl: hostileUrl }

describe('OPS-12 beside hostile objects', () => {
  const profile = nativeProfile('unstuck')
  let bench: PostgresBench
  beforeAll(async () => {
    const [table] = profile.tables
    bench = await createPostgresBench({ profile, table, applicationSql: hostileObjects, ...hostile })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL native', () => bench.open(), { alwaysHasUpdateTime: true })
})

describe.each([
  { what: 'an enum', profile: oddProfile, table: oddTable },
  { what: 'ids and words of varying length', profile: varyingProfile, table: varyingTable },
])('OPS-12 beside hostile objects, with $what', ({ profile, table }) => {
  const applicationSql = oddTables + varyingTables + hostileObjects
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({ profile, table, applicationSql, ...hostile })
  })
  afterAll(() => bench.close())
  describeJobStore('PostgreSQL odd table', () => bench.open(), {
    leavesOutShared: true,
    isTeams: true,
    hasTextIds: table.idType === 'text',
  })
})
