import { checkPolicy } from '../../../policy/check-policy.ts'
import { type Policy, type PolicyOverride, withOverride } from '../../../policy/policy.ts'

/** The stored policy with the overrides of a call. Undefined counts as omitted. */
export function policyOf(stored: Policy, override: PolicyOverride | undefined): Policy {
  if (override === undefined) return stored
  const given = Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined))
  checkPolicy(stored, given)
  return withOverride(stored, given)
}
