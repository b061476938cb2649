// Tables that are the shards of one: `jobs:0`, `jobs:1`. Operations, webhooks and trends exist in each of them.
import { isUnstuckError, UnstuckError } from '../errors/index.ts'
import type { JobStore } from '../store/job-store.ts'
import { noteSilentShard } from '../store/silent-shards.ts'

interface Table {
  name: string
  store: JobStore
  /** The name that reads of the whole table give to the shard. */
  shardName?: string
}

/** As long as the reads of a table over several shards wait for one of them. */
const ANSWER_MS = 2_000

/** Each shard of these tables as a table of its own. */
export function shardTables<T extends Table>(tables: readonly T[]): T[] {
  return tables.flatMap((table) =>
    table.store.shards === undefined
      ? [table]
      : table.store.shards.all.map(({ number, name, store }) => ({
          ...table,
          name: `${table.name}:${number}`,
          shardName: name,
          store,
        })),
  )
}

export const isShard = ({ name }: Pick<Table, 'name'>): boolean => /:\d+$/.test(name)

/** Reads all tables at the same time. A shard that does not answer is left out, and named to the caller; the last one fails. */
export async function readEach<T extends Table, Value>(
  tables: readonly T[],
  read: (table: T) => Promise<Value>,
): Promise<{ table: T; value: Value }[]> {
  const results = await Promise.all(
    tables.map(async (table) => {
      try {
        const answer = read(table)
        return { table, value: await (isShard(table) ? inTime(table, answer) : answer) }
      } catch (error) {
        if (isShard(table) && isUnstuckError(error, 'DATABASE_UNREACHABLE')) return { table, error }
        throw error
      }
    }),
  )
  const answered = results.flatMap((result) => ('error' in result ? [] : [result]))
  const [silent] = results.flatMap((result) => ('error' in result ? [result] : []))
  if (answered.length === 0 && silent !== undefined) throw silent.error as Error
  for (const result of results)
    if ('error' in result) noteSilentShard(result.table.shardName ?? result.table.name)
  return answered
}

async function inTime<Value>({ name }: Pick<Table, 'name'>, answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const silent = new UnstuckError('DATABASE_UNREACHABLE', `${name}: no answer within ${ANSWER_MS} ms`)
    timer = setTimeout(() => reject(silent), ANSWER_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
