import { UnstuckError } from '../../../../errors/index.ts'
import type { TableProfile } from '../../../../profile/profile.ts'

export function unsupported(table: TableProfile, problem: string, hint: string): UnstuckError {
  return new UnstuckError('TABLE_UNSUPPORTED', `table ${table.schema}.${table.table}: ${problem}`, { hint })
}
