import { afterAll, beforeAll } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

// The same install under another name: nothing may call the first one.
const schema = 'other_schema'
const profile = nativeProfile(schema)
let bench: PostgresBench

beforeAll(async () => {
  bench = await createPostgresBench({ profile, table: profile.tables[0], schema })
})
afterAll(() => bench.close())

describeJobStore('PostgreSQL native (other schema)', () => bench.open(), { alwaysHasUpdateTime: true })
