// Checks, once when a worker starts, that the job table has the columns that its policy needs (ADR 0034).
import { UnstuckError } from '../../errors/index.ts'
import type { Policy } from '../../policy/policy.ts'
import { columnsOf, neededFeatures } from '../../profile/features.ts'
import { columnName, type TableProfile } from '../../profile/profile.ts'
import type { CallQuery } from './connection/call-query.ts'

export async function requireFeatures(call: CallQuery, table: TableProfile, policy: Policy): Promise<void> {
  const needed = table.attachment === 'native' ? [] : neededFeatures(policy)
  if (needed.length === 0) return
  const namesOf = (feature: (typeof needed)[number]) =>
    columnsOf(feature).map((column) => columnName(table, column))
  const rows = await call('missing_columns', [needed.flatMap(namesOf)])
  const missing = new Set(rows.map(({ name }) => String(name)))
  const lacking = needed.filter((feature) => namesOf(feature).some((name) => missing.has(name)))
  if (lacking.length === 0) return
  throw new UnstuckError(
    'NOT_SUPPORTED',
    `the policy of ${table.schema}.${table.table} uses ${lacking.join(' and ')}, and the table has no column ${[...missing].join(', ')}`,
    { hint: `Run unstuck attach --features ${lacking.join(',')} to add it, or change the policy.` },
  )
}
