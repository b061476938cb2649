import { type Config, profileOf } from '../../config/index.ts'
import { invalidArgument } from '../../errors/index.ts'
import type { TableProfile } from '../../profile/profile.ts'

/** The table with this name, or the first of the profile. */
export function tableOf(config: Config, name: string | undefined): TableProfile {
  const { tables } = profileOf(config)
  const table = name === undefined ? tables[0] : tables.find((candidate) => candidate.table === name)
  if (table === undefined)
    throw invalidArgument('table', name, tables.map((candidate) => candidate.table).join(', '))
  return table
}
