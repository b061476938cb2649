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
    ...drift(name, policyDifferences(override, stored), 'here', storeOverride),
    ...drift(name, profileDrift?.differences ?? [], 'in the profile', profileDrift?.statement ?? null),
  ]
  return findings.length > 0 ? findings : [fine(CHECK, `nothing here overrides the stored policy of ${name}`)]
}

function drift(name: string, found: PolicyDifference[], place: string, fix: string | null): Finding[] {
  if (found.length === 0) return []
  const told = found.map((difference) => describeDifference(difference, place)).join('; ')
  return [warning(CHECK, `${name}: ${told}`, fix)]
}
