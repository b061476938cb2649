// Checks, once when a worker starts, that the job table has the columns that its policy (ADR 0034) and its declared jobs need.
import { UnstuckError } from '../../errors/index.ts'
import type { JobDeclarations } from '../../job/declared-jobs.ts'
import type { Policy } from '../../policy/policy.ts'
import { columnsOf, neededFeatures } from '../../profile/features.ts'
import { columnName, type Feature, type TableProfile } from '../../profile/profile.ts'
import type { CallQuery } from './connection/call-query.ts'

export async function requireFeatures(
  call: CallQuery,
  table: TableProfile,
  policy: Policy,
  jobs: JobDeclarations = {},
): Promise<void> {
  if (table.attachment === 'native') return
  const grouped = Object.entries(jobs).find(([, { group }]) => group !== undefined)?.[0]
  const ofPolicy = neededFeatures(policy)
  const needed: Feature[] = grouped === undefined ? ofPolicy : [...ofPolicy, 'groups']
  if (needed.length === 0) return
  const namesOf = (feature: Feature) => columnsOf(feature).map((column) => columnName(table, column))
  const rows = await call('missing_columns', [needed.flatMap(namesOf)])
  const missing = new Set(rows.map(({ name }) => String(name)))
  const lacking = needed.filter((feature) => namesOf(feature).some((name) => missing.has(name)))
  if (lacking.length === 0) return
  const name = `${table.schema}.${table.table}`
  const user = lacking.every((feature) => ofPolicy.includes(feature))
    ? `the policy of ${name}`
    : `the declaration of ${grouped}, in ${name},`
  throw new UnstuckError(
    'NOT_SUPPORTED',
    `${user} uses ${lacking.join(' and ')}, and the table has no column ${[...missing].join(', ')}`,
    {
      hint: `Run unstuck attach --features ${lacking.join(',')} to add it, or change the policy or the declaration.`,
    },
  )
}
