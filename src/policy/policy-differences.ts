// Differences between a configured policy and the stored one, setting by setting.
import type { Policy, PolicyOverride } from './policy.ts'

export interface PolicyDifference {
  /** `stageLeasesMs.asr` for a key of a map. */
  setting: string
  written: unknown
  stored: unknown
}

/** Maps are merged key by key, so only configured keys can differ. */
export function policyDifferences(written: PolicyOverride, stored: Policy): PolicyDifference[] {
  return Object.entries(written).flatMap(([setting, value]) => {
    const found: unknown = stored[setting as keyof Policy]
    // An older schema lacks the setting until its migration.
    return found === undefined ? [] : differences(setting, value, found)
  })
}

function differences(setting: string, written: unknown, stored: unknown): PolicyDifference[] {
  if (isMap(written) && isMap(stored)) {
    return Object.entries(written).flatMap(([key, value]) =>
      differences(`${setting}.${key}`, value, stored[key]),
    )
  }
  return JSON.stringify(written) === JSON.stringify(stored) ? [] : [{ setting, written, stored }]
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The settings to store so that nothing differs. */
export function differingSettings(written: PolicyOverride, found: PolicyDifference[]): PolicyOverride {
  const names = new Set(found.map(({ setting }) => setting.split('.', 1)[0]))
  return Object.fromEntries(Object.entries(written).filter(([name]) => names.has(name)))
}

/** `place` names the source of the configured value: `here`, `in the profile`. */
export function describeDifference({ setting, written, stored }: PolicyDifference, place: string): string {
  return `${setting} is ${JSON.stringify(written)} ${place} and ${JSON.stringify(stored) ?? 'not set'} in the database`
}
