// The number of a shard is chosen by its first install and stays: jobs are found by the number in their ids (docs/adr/0038).
import { UnstuckError } from '../../../errors/index.ts'
import type { Row } from '../connection/executor.ts'
import type { RenderOptions } from '../render/render.ts'
import type { MigrationSession } from './session/migration-session.ts'

/** `facts` are those of the query `server_facts`. Refuses another number than that of the installed functions or kept jobs. */
export async function withShard(
  session: Pick<MigrationSession, 'query'>,
  base: RenderOptions,
  facts: Row,
  wanted?: number,
): Promise<RenderOptions> {
  const known = await readShard(session, base, facts)
  if (wanted !== undefined && known !== undefined && wanted !== known)
    throw new UnstuckError('INVALID_CONFIG', `schema ${base.schema} is shard ${known}, not shard ${wanted}`, {
      hint: 'A shard keeps its number, because its jobs are found by it. Correct the order of the shards, or set number.',
      details: { schema: base.schema, shard: known, wanted },
    })
  return { ...base, shard: wanted ?? known ?? 0 }
}

async function readShard(
  session: Pick<MigrationSession, 'query'>,
  base: RenderOptions,
  facts: Row,
): Promise<number | undefined> {
  if (facts['has_shard_number'] === true) {
    const [row] = await session.query('installed_shard', base)
    return Number(row?.['shard'])
  }
  // Engines that were installed before shards had numbers are shard 0.
  if (facts['is_installed'] === true) return 0
  if (facts['has_jobs'] !== true) return undefined
  const [row] = await session.query('kept_shard', base)
  return row === undefined ? undefined : Number(row['shard'])
}
