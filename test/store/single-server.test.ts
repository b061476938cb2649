// One server pays nothing for shards: the router is not in the path, and the SQL is the same.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDeployment } from '../../src/compose/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { RuntimeEventEmitter } from '../../src/observe/events.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { engineFunctions } from '../../src/store/postgres/migrate/statements/plan.ts'
import { openJobs } from '../../src/unstuck/open/open-jobs.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const [table] = nativeProfile('unstuck').tables
let database: TestDatabase
beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())

it('OPS-15 a single database is opened without the router, by workers and by servers', async () => {
  const config = loadConfig({ env: { DATABASE_URL: database.url } })
  const { open, shards } = openJobs({}, config, table, new RuntimeEventEmitter())
  expect([shards, open.store.shards]).toEqual([undefined, undefined])
  await open.close()
  const deployment = openDeployment(config)
  expect(deployment.tables.map(({ store }) => store.shards)).toEqual([undefined])
  expect(deployment.parts).toBe(deployment.tables)
  await deployment.close()
})

it('OPS-15 the number of a shard is in the functions that make ids, as a constant, and nowhere else in the SQL', () => {
  const functionsOf = (shard?: number) =>
    new Map(
      engineFunctions({
        schema: 'unstuck',
        table,
        profile: 'native',
        ...(shard === undefined ? {} : { shard }),
      }).map(({ name, text }) => [name, text]),
    )
  const [plain, first, second] = [functionsOf(), functionsOf(0), functionsOf(1)]
  expect(first).toEqual(plain)
  const differing = [...second].filter(([name, text]) => plain.get(name) !== text).map(([name]) => name)
  expect(differing.toSorted()).toEqual(['shard_number', 'uuid_v7_of'])
})
