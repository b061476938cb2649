import { withOverride } from '../../policy/policy.ts'
import {
  describeDifference,
  type PolicyDifference,
  policyDifferences,
} from '../../policy/policy-differences.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, fine, warning } from '../finding.ts'

const CHECK = 'policy drift'

/** What this process would override, and what the profile asks for: other processes, and SQL itself, go by what is stored. */
export function checkPolicyDrift(table: TableFacts): Finding[] {
  const { name, stored, override, storeOverride, profileDrift } = table
  if (stored === null) return []
  const findings = [
    ...ownMaxima(table, withOverride(stored, override).maxAttempts),
    ...drift(name, policyDifferences(override, stored), 'here', storeOverride),
    ...drift(name, profileDrift?.differences ?? [], 'in the profile', profileDrift?.statement ?? null),
  ]
  return findings.length > 0 ? findings : [fine(CHECK, `nothing here overrides the stored policy of ${name}`)]
}

/** The row's own wins (OPS-8), also one that the default of a team's column gave it. */
function ownMaxima({ name, ownMaxima: found }: TableFacts, maxAttempts: number): Finding[] {
  return (found ?? []).map(({ maximum, jobs, isDefault, fix }) => {
    const rows = jobs === 0 ? [] : [jobs === 1 ? '1 unfinished job' : `${jobs} unfinished jobs`]
    const where = [...rows, ...(isDefault ? ['the default of the column'] : [])].join(', ')
    const message = `${name}: max_attempts ${maximum} (${where}) wins over ${maxAttempts} of the policy`
    return warning(CHECK, message, fix)
  })
}

function drift(name: string, found: PolicyDifference[], place: string, fix: string | null): Finding[] {
  if (found.length === 0) return []
  const told = found.map((difference) => describeDifference(difference, place)).join('; ')
  return [warning(CHECK, `${name}: ${told}`, fix)]
}
