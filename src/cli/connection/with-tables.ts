import { type Deployment, openDeployment } from '../../compose/index.ts'
import { invalidArgument } from '../../errors/index.ts'
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
    await act(selectTables(deployment, flags))
  } finally {
    await deployment.close()
  }
}

/** The tables of the profile, or the one that --table names. */
export function selectTables({ tables }: Deployment, { table: name }: TableFlags): Deployment['tables'] {
  if (name === undefined) return tables
  const found = tables.find((table) => table.name === name)
  if (found === undefined)
    throw invalidArgument('--table', name, tables.map((table) => table.name).join(', '))
  return [found]
}
