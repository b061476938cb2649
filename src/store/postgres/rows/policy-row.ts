// Policy names are camelCase in TypeScript and snake_case in SQL; the names of stages inside its maps are nobody's to change.
import { nativePolicy, type Policy, type PolicyOverride } from '../../../policy/policy.ts'
import type { Row } from '../connection/executor.ts'

const columnOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const policyNames = Object.keys(nativePolicy) as (keyof Policy)[]

/** As text for `($n::text)::jsonb`; null where there is nothing to override. */
export function policyToJson(override: PolicyOverride | undefined): string | null {
  const entries = Object.entries(override ?? {}).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return null
  return JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [columnOf(name), value])))
}

export function policyFromRow(row: Row): Policy {
  return Object.fromEntries(policyNames.map((name) => [name, row[columnOf(name)]])) as unknown as Policy
}
