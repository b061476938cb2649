// An application that brings its own pool: what needs a URL gets one only if it was given beside the pool.
import { type CallersPool, type Database, findDirectUrl, requireUrlOfPool } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import type { UnstuckOptions } from '../options.ts'
import type { StartLimit } from '../start/start-limit.ts'

/** The URL for heartbeats and notifications. Null for a pool without a URL beside it, and for a store inside the process. */
export async function directUrlOf(
  { pool, databaseUrl }: Pick<UnstuckOptions, 'pool' | 'databaseUrl'>,
  config: Config,
  database: Database,
  limit: StartLimit,
): Promise<string | null> {
  if (pool !== undefined) return limit.retry(() => urlBesidePool(pool, config, databaseUrl))
  const url = await database.url()
  if (url === '') return null
  return limit.retry(() => findDirectUrl(config, url))
}

/** DATABASE_URL of the environment does not count: it may name another database than the pool. */
async function urlBesidePool(
  pool: CallersPool,
  { directUrl }: Config,
  databaseUrl: string | undefined,
): Promise<string | null> {
  const url = directUrl ?? databaseUrl ?? null
  if (url !== null) await requireUrlOfPool(pool, url)
  return url
}
