import { type Deployment, openDeployment } from '../../compose/index.ts'
import { exitCodes, invalidArgument } from '../../errors/index.ts'
import { collectSilentShards } from '../../store/silent-shards.ts'
import { printProgress } from '../terminal/output.ts'
import { type ConnectionFlags, loadCommandConfig } from './command-config.ts'

export interface TableFlags extends ConnectionFlags {
  table?: string
}

/** Runs `act` on the selected tables, then closes their connections. */
export async function withTables(
  flags: TableFlags,
  act: (tables: Deployment['tables']) => Promise<void>,
  { asOwner = false }: { asOwner?: boolean } = {},
): Promise<void> {
  const config = loadCommandConfig(flags)
  // The migration role owns the tables, and its address bypasses the pooler.
  const deployment = openDeployment(config, (asOwner ? config.migrateUrl : null) ?? undefined)
  try {
    await withSilence(() => act(selectTables(deployment, flags)))
  } finally {
    await deployment.close()
  }
}

/** An answer without one of the shards says so, and exits with 1; so does an error, which may be for that reason. */
export async function withSilence(work: () => Promise<void>): Promise<void> {
  const { answer: result, silentShards } = await collectSilentShards(async () => {
    const [settled] = await Promise.allSettled([work()])
    return settled
  })
  for (const shard of silentShards)
    printProgress(`unstuck: warning: ${shard} did not answer: its jobs are missing here`)
  if (result.status === 'rejected') throw result.reason
  if (silentShards.length > 0) process.exitCode ??= exitCodes.problemFound
}

/** The tables of the profile, or the one that --table names, which may be a shard: `jobs:1`. */
export function selectTables(
  { tables, parts }: Pick<Deployment, 'tables' | 'parts'>,
  { table: name }: TableFlags,
): Deployment['tables'] {
  if (name === undefined) return tables
  const found = [...tables, ...parts].find((table) => table.name === name)
  if (found === undefined)
    throw invalidArgument('--table', name, tables.map((table) => table.name).join(', '))
  return [found]
}
