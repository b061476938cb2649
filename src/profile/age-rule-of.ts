import type { AgeRule } from '../policy/lease/age-rule.ts'
import type { Policy } from '../policy/policy.ts'
import { columnName, type TableProfile } from './profile.ts'

export function ageRuleOf(table: TableProfile, { legacyAgeRule }: Policy): AgeRule {
  return { isOn: legacyAgeRule, columns: table.ageColumns.map((column) => columnName(table, column)) }
}
