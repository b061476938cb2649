import type { TableFacts } from '../facts.ts'
import { type Finding, fine, warning } from '../finding.ts'

/** What this process would override: other processes, and SQL itself, go by what is stored. */
export function checkPolicyDrift({ name, stored, override, storeOverride }: TableFacts): Finding[] {
  const check = 'policy drift'
  if (stored === null) return []
  const drifts = Object.entries(override).flatMap(([setting, value]) =>
    differences(setting, value, stored[setting as keyof typeof stored]),
  )
  if (drifts.length === 0) return [fine(check, `nothing here overrides the stored policy of ${name}`)]
  return [warning(check, `${name}: ${drifts.join('; ')}`, storeOverride)]
}

/** Maps are merged key by key, so only the keys that are given can differ. */
function differences(setting: string, here: unknown, stored: unknown): string[] {
  if (isMap(here) && isMap(stored)) {
    return Object.entries(here).flatMap(([key, value]) =>
      differences(`${setting}.${key}`, value, stored[key]),
    )
  }
  const [ours, theirs] = [JSON.stringify(here), JSON.stringify(stored)]
  return ours === theirs ? [] : [`${setting} is ${ours} here and ${theirs ?? 'not set'} in the database`]
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
