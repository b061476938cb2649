// The conformance suite over two shards: schemas of one database, and two servers. Left out are ports that run in each shard,
// and what a shard knows of its own jobs alone (docs/adr/0038).
import { afterAll, beforeAll, describe } from 'vitest'
import { startPostgres } from '../../embedded/src/index.ts'
import { describeJobStore } from '../../src/store/conformance/index.ts'
import { createShardedBench, type ShardedBench } from '../support/sharded-harness.ts'
import { createTestDatabase } from '../support/test-database.ts'

const options = {
  alwaysHasUpdateTime: true,
  isSharded: true,
  lacks: ['dispatch', 'operations', 'trends', 'webhooks'],
} as const

describe('OPS-15 two schemas', () => {
  let bench: ShardedBench
  beforeAll(async () => {
    bench = await createShardedBench('queue')
  })
  afterAll(() => bench.close())
  describeJobStore('sharded', () => bench.open(), options)
})

describe('OPS-15 two servers', () => {
  let bench: ShardedBench
  let close = async () => {}
  beforeAll(async () => {
    const server = await startPostgres({
      persistent: false,
      settings: { fsync: 'off' },
      binaries: process.env['UNSTUCK_TEST_BINARIES'],
    })
    const database = await createTestDatabase(server.url)
    bench = await createShardedBench('queue', database)
    close = async () => {
      await bench.close()
      await database.drop()
      await server.stop()
    }
  })
  afterAll(() => close())
  describeJobStore('sharded', () => bench.open(), options)
})
