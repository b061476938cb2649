import { afterAll, beforeAll } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

const profile = nativeProfile('unstuck')
let bench: PostgresBench

beforeAll(async () => {
  bench = await createPostgresBench({ profile, table: profile.tables[0] })
})
afterAll(() => bench.close())

describeJobStore('PostgreSQL native', () => bench.open(), { alwaysHasUpdateTime: true })
