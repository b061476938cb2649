import { afterAll, beforeAll } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { describeJobStore } from '../../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../../support/postgres-harness.ts'
import { createDistributedSchema } from './distributed-schema.ts'

const schema = 'conformance'
const lacks = ['enforce'] as const
const profile = nativeProfile(schema)
let bench: PostgresBench

beforeAll(async () => {
  const database = await createDistributedSchema(schema)
  bench = await createPostgresBench({
    profile,
    table: profile.tables[0],
    schema,
    installed: database,
    shifts: database.shards,
    lacks,
  })
})
afterAll(() => bench.close())

describeJobStore('PostgreSQL native in a distributed schema of Citus', () => bench.open(), {
  alwaysHasUpdateTime: true,
  lacks,
})
