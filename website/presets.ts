// Initial policies: those of the shipped profiles, and the presets over the native one.
import { nativePolicy, type Policy, presetPolicies } from '../src/policy/policy.ts'
import { shippedProfile, shippedProfileNames } from '../src/profile/shipped.ts'

export interface Preset {
  name: string
  policy: Policy
}

/** An idle worker polls every 1 to 2 s. */
export const DEFAULT_POLL_MS = 2_000

export const presets: Preset[] = [
  ...shippedProfileNames.map((name) => ({ name, policy: policyOf(name) })),
  ...Object.entries(presetPolicies).map(([name, preset]) => ({
    name,
    policy: { ...nativePolicy, ...preset },
  })),
]

function policyOf(name: string): Policy {
  return shippedProfile(name, 'unstuck').tables[0]?.policy ?? nativePolicy
}
