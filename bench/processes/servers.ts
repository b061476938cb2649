// The servers under test: PostgreSQL with durable commits, and Redis, if installed, with default settings and with fsync on every
// write. Each run gets its own database, copied from a template.
import { startPostgres } from '@unstuck/embedded'
import pg from 'pg'
import { parentOf, serverCpuMs } from './cpu-time.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

export type ServerKind = 'postgres' | 'redis' | 'redis-fsync'

export interface Start {
  /** Databases with the same key start with the same content. */
  key: string
  prepare: (url: string) => Promise<void>
  synchronousCommit?: 'on' | 'off'
}

export interface Servers {
  versions: Record<string, string>
  /** Why a server is missing. */
  missing: Partial<Record<ServerKind, string>>
  /** A database filled by `prepare`. */
  fresh(kind: ServerKind, start: Start): Promise<Fresh>
  /** The same without a copy, for large data that the measure hardly changes. */
  shared(start: Start): Promise<string>
  /** As `fresh`, on a PostgreSQL that counts its statements; it starts when it is first needed. */
  observed(start: Start): Promise<Fresh>
  /** CPU time of a server since its start. */
  cpuMs(kind: ServerKind): number
  close(): Promise<void>
}

export interface Fresh {
  url: string
  drop(): Promise<void>
}

const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '1GB',
  work_mem: '16MB',
  max_wal_size: '8GB',
  max_connections: '1200',
}

/** Counts depend on nothing but the work: no page images after a checkpoint, no vacuum. */
const observedSettings = {
  ...settings,
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  full_page_writes: 'off',
  autovacuum: 'off',
}

export const serverSettings = Object.entries(settings)
  .map(([name, value]) => `${name} ${value}`)
  .join(', ')

export async function startServers(): Promise<Servers> {
  const postgres = await startPostgres({ persistent: false, settings })
  const admin = new pg.Pool({ connectionString: postgres.url, max: 2 })
  admin.on('error', () => {})
  const redis = { redis: await startRedis('no'), 'redis-fsync': await startRedis('always') }
  const version = await admin.query<{ server_version: string }>('show server_version')
  const whyMissing = 'redis-server is not installed (Debian: redis-server)'
  const databases = createDatabases(admin, postgres.url)
  let observed: ReturnType<typeof startObserved> | undefined
  const backend = await admin.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pids = {
    postgres: parentOf(backend.rows[0]?.pid ?? 0),
    redis: redis.redis?.pid ?? 0,
    'redis-fsync': redis['redis-fsync']?.pid ?? 0,
  }
  return {
    versions: {
      PostgreSQL: version.rows[0]?.server_version ?? '',
      ...(redis.redis === null ? {} : { Redis: redis.redis.version }),
    },
    missing: redis.redis === null ? { redis: whyMissing, 'redis-fsync': whyMissing } : {},
    fresh: (kind, start) =>
      kind === 'postgres' ? databases.fresh(start) : freshRedis(redis[kind], start.prepare),
    shared: (start) => databases.shared(start),
    async observed(start) {
      observed ??= startObserved()
      return (await observed).databases.fresh(start)
    },
    cpuMs: (kind) => serverCpuMs(pids[kind]),
    async close() {
      await (await observed?.catch(() => undefined))?.close()
      await admin.end()
      await postgres.stop()
      await redis.redis?.stop()
      await redis['redis-fsync']?.stop()
    },
  }
}

async function startObserved(): Promise<{ databases: Databases; close(): Promise<void> }> {
  const postgres = await startPostgres({ persistent: false, settings: observedSettings })
  const admin = new pg.Pool({ connectionString: postgres.url, max: 2 })
  admin.on('error', () => {})
  await admin.query('create extension pg_stat_statements')
  await admin.query('create extension pg_walinspect')
  return {
    databases: createDatabases(admin, postgres.url),
    async close() {
      await admin.end()
      await postgres.stop()
    },
  }
}

async function freshRedis(redis: RedisServer | null, prepare: Start['prepare']): Promise<Fresh> {
  if (redis === null) throw new Error('there is no Redis')
  await prepare(redis.url)
  return { url: redis.url, drop: async () => redis.flush() }
}

interface Databases {
  fresh(start: Start): Promise<Fresh>
  shared(start: Start): Promise<string>
}

function createDatabases(admin: pg.Pool, serverUrl: string): Databases {
  const prepared = new Map<string, string>()
  let count = 0
  const urlOf = (name: string) => Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
  const create = async (template: string) => {
    const name = `bench_${++count}`
    await admin.query(`create database ${name} template ${template}`)
    return name
  }
  const prepareOnce = async ({ key, prepare }: Start) => {
    let name = prepared.get(key)
    if (name === undefined) {
      name = await create('template1')
      await prepare(urlOf(name))
      await settle(urlOf(name))
      prepared.set(key, name)
    }
    return name
  }
  return {
    async fresh(start) {
      const name = await create(await prepareOnce(start))
      await admin.query(`alter database ${name} set synchronous_commit = ${start.synchronousCommit ?? 'on'}`)
      await admin.query('checkpoint')
      return {
        url: urlOf(name),
        drop: async () => void (await admin.query(`drop database ${name} with (force)`)),
      }
    },
    shared: async (start) => urlOf(await prepareOnce(start)),
  }
}

/** Like a table in use: analyzed, and with no vacuum due. */
async function settle(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}
