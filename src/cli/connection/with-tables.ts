import { type Deployment, type DeploymentTable, openDeployment } from '../../compose.ts'
import { invalidArgument } from '../../errors/index.ts'
import { type ConnectionFlags, loadCommandConfig } from './command-config.ts'

export interface TableFlags extends ConnectionFlags {
  table?: string
}

/** The tables of the profile, or the one that --table names. Their connections end with `act`. */
export async function withTables(
  flags: TableFlags,
  act: (tables: Deployment['tables']) => Promise<void>,
  { asOwner = false }: { asOwner?: boolean } = {},
): Promise<void> {
  const config = loadCommandConfig(flags)
  // The role that migrates owns the tables, and its address is no pooler's.
  const deployment = openDeployment(config, (asOwner ? config.migrateUrl : null) ?? undefined)
  try {
    await act(flags.table === undefined ? deployment.tables : [findTable(deployment, flags.table)])
  } finally {
    await deployment.close()
  }
}

export function findTable({ tables }: Deployment, name: string): DeploymentTable {
  const found = tables.find((table) => table.name === name)
  if (found !== undefined) return found
  throw invalidArgument('--table', name, tables.map((table) => table.name).join(', '))
}
