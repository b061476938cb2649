// The number of a shard: set by its first install, in every id, and kept.
import { expect, it, onTestFinished } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import {
  createPostgresStore,
  migrateDown,
  migrateStatus,
  migrateUp,
} from '../../../src/store/postgres/index.ts'
import { shardNumberOf } from '../../../src/store/shards.ts'
import { createTestDatabase } from '../../support/test-database.ts'

it('OPS-15 a shard keeps the number of its first install, also over a removal, and refuses another', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const profile = nativeProfile('unstuck')
  const target = { databaseUrl: database.url, schema: 'unstuck', profile }
  const store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  const newNumber = async () => {
    const [job] = await store.enqueueJobs([{ type: 'asr' }])
    return shardNumberOf(String(job?.jobId))
  }
  await migrateUp({ ...target, shard: 4_095 })
  expect(await newNumber()).toBe(4_095)
  await migrateUp(target)
  expect(await newNumber()).toBe(4_095)
  expect(await migrateStatus(target)).toMatchObject({ isCurrent: true })
  const refusal = { code: 'INVALID_CONFIG', message: 'schema unstuck is shard 4095, not shard 0' }
  await expect(migrateUp({ ...target, shard: 0 })).rejects.toMatchObject(refusal)
  await migrateDown({ ...target, isPurge: false })
  await expect(migrateUp({ ...target, shard: 0 })).rejects.toMatchObject(refusal)
  await migrateUp(target)
  expect(await newNumber()).toBe(4_095)
})

it('OPS-15 an installation without a number is shard 0', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const profile = nativeProfile('unstuck')
  const target = { databaseUrl: database.url, schema: 'unstuck', profile }
  await migrateUp(target)
  await database.pool.query('drop function unstuck.shard_number()')
  await expect(migrateUp({ ...target, shard: 1 })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  await migrateUp({ ...target, shard: 0 })
})
