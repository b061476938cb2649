import type { AgeRule } from '../policy/lease/age-rule.ts'
import type { Policy } from '../policy/policy.ts'
import { ageColumnNames, type TableProfile } from './profile.ts'

export function ageRuleOf(table: TableProfile, { legacyAgeRule }: Policy): AgeRule {
  return { isOn: legacyAgeRule, columns: ageColumnNames(table) }
}
