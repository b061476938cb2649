// Compares the policy of a team's own profile with the stored one, which only the first attach writes.
import type { Policy } from '../../../../policy/policy.ts'
import {
  differingSettings,
  type PolicyDifference,
  policyDifferences,
} from '../../../../policy/policy-differences.ts'
import { shippedProfileNames } from '../../../../profile/shipped.ts'
import type { Row } from '../../connection/executor.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { policyFromRow, policyToJson } from '../../rows/policy-row.ts'
import { readSql } from '../../sql-files.ts'
import { nameOf } from '../attach-table.ts'
import type { MigrationSession } from '../session/migration-session.ts'

export interface PolicyDrift {
  table: string
  differences: PolicyDifference[]
  /** Stores the policy of the profile. */
  statement: string
}

/** An override of a shipped policy by an operator is no drift. */
const isOwnProfile = (name: string) => !shippedProfileNames.some((shipped) => shipped === name)

export async function readPolicyDrift(
  session: Pick<MigrationSession, 'run' | 'query'>,
  options: RenderOptions,
): Promise<PolicyDrift[]> {
  if (!isOwnProfile(options.profile ?? 'native')) return []
  const [row] = await session.query('read_policy', options)
  const written: Policy = options.table.policy
  const differences = policyDifferences(written, policyFromRow(row?.['policy'] as Row))
  if (differences.length === 0) return []
  const change = policyToJson(differingSettings(written, differences))
  const [stored] = await session.run(render(readSql('doctor', 'store_policy'), options), [change])
  return [{ table: nameOf(options), differences, statement: `${String(stored?.['statement'])};` }]
}
