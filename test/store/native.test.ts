import { afterAll, beforeAll, describe } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

describe.each(['unstuck', 'other_schema'])('native table in schema %s', (schema) => {
  let bench: PostgresBench
  beforeAll(async () => {
    const profile = nativeProfile(schema)
    bench = await createPostgresBench({ profile, table: profile.tables[0], schema })
  })
  afterAll(() => bench.close())
  describeJobStore(`PostgreSQL native (${schema})`, () => bench.open(), { alwaysHasUpdateTime: true })
})
