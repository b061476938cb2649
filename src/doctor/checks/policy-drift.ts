import { withOverride } from '../../policy/policy.ts'
import {
  describeDifference,
  type PolicyDifference,
  policyDifferences,
} from '../../policy/policy-differences.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, fine, warning } from '../finding.ts'

const CHECK = 'policy drift'

/** Overrides of this process and of the profile that are not stored: other processes and SQL use the stored policy. */
export function checkPolicyDrift(table: TableFacts): Finding[] {
  const { name, stored, override, storeOverride, profileDrift } = table
  if (stored === null) return []
  const findings = [
    ...ownMaxima(table, withOverride(stored, override).maxAttempts),
    ...drift(name, policyDifferences(override, stored), 'here', storeOverride),
    ...drift(name, profileDrift?.differences ?? [], 'in the profile', profileDrift?.statement ?? null),
  ]
  return findings.length > 0 ? findings : [fine(CHECK, `${name}: no override of the stored policy`)]
}

/** The row's own maximum wins (OPS-8), also one from the default of a team's column. */
function ownMaxima({ name, ownMaxima: found }: TableFacts, maxAttempts: number): Finding[] {
  return (found ?? []).map(({ maximum, jobs, isDefault, fix }) => {
    const rows = jobs === 0 ? [] : [jobs === 1 ? '1 unfinished job' : `${jobs} unfinished jobs`]
    const where = [...rows, ...(isDefault ? ['the column default'] : [])].join(', ')
    const message = `${name}: max_attempts ${maximum} (${where}) overrides ${maxAttempts} of the policy`
    return warning(CHECK, message, fix)
  })
}

function drift(name: string, found: PolicyDifference[], place: string, fix: string | null): Finding[] {
  if (found.length === 0) return []
  const told = found.map((difference) => describeDifference(difference, place)).join('; ')
  return [warning(CHECK, `${name}: ${told}`, fix)]
}
