import { checkPolicy } from '../../../policy/check-policy.ts'
import { type Policy, type PolicyOverride, withOverride } from '../../../policy/policy.ts'

/** The policy in force for a call: the stored one, with what the caller overrides. Absent and undefined are the same. */
export function policyOf(stored: Policy, override: PolicyOverride | undefined): Policy {
  if (override === undefined) return stored
  const given = Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined))
  checkPolicy(stored, given)
  return withOverride(stored, given)
}
