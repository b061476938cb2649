// Policy settings are camelCase in TypeScript and snake_case in SQL. Stage names inside the maps stay unchanged.
import { nativePolicy, type Policy, type PolicyOverride } from '../../../policy/policy.ts'
import type { Row } from '../connection/executor.ts'
import { columnOf } from './values.ts'

const policyNames = Object.keys(nativePolicy) as (keyof Policy)[]

/** Text for `($n::text)::jsonb`; null if nothing is overridden. */
export function policyToJson(override: PolicyOverride | undefined): string | null {
  const entries = Object.entries(override ?? {}).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return null
  return JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [columnOf(name), value])))
}

export function policyFromRow(row: Row): Policy {
  return Object.fromEntries(policyNames.map((name) => [name, row[columnOf(name)]])) as unknown as Policy
}
