// Two shards on servers of their own; the second can be killed and comes back with its data under the same address.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../embedded/src/index.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from './installed-database.ts'

export interface ShardServers {
  /** In the order of their numbers. */
  urls: [string, string]
  killSecond(): Promise<void>
  restartSecond(): Promise<void>
  close(): Promise<void>
}

export async function startShardServers(): Promise<ShardServers> {
  const folder = await mkdtemp(join(tmpdir(), 'unstuck-shards-'))
  const first = await createInstalledDatabase()
  const start = (port?: number) =>
    startPostgres({
      dataDir: join(folder, 'data'),
      binaries: process.env['UNSTUCK_TEST_BINARIES'],
      ...(port === undefined ? {} : { port }),
    })
  let server = await start()
  await migrateUp({
    databaseUrl: server.url,
    schema: 'unstuck',
    profile: nativeProfile('unstuck'),
    shard: 1,
  })
  return {
    urls: [first.url, server.url],
    killSecond: () => server.kill(),
    async restartSecond() {
      server = await start(server.port)
    },
    async close() {
      await server.stop()
      await first.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
