import { invalidArgument } from '../../../errors/index.ts'
import { checkPolicy } from '../../../policy/check-policy.ts'
import { deletesCompleted, type Policy, type PolicyOverride, withOverride } from '../../../policy/policy.ts'
import type { MemoryState } from './memory-state.ts'

/** The stored policy with the overrides of a call. Undefined counts as omitted. */
export function policyOf(stored: Policy, override: PolicyOverride | undefined): Policy {
  const set = Object.entries(override ?? {}).filter(([, value]) => value !== undefined)
  if (set.length === 0) return stored
  const given = Object.fromEntries(set)
  checkPolicy(stored, given)
  return withOverride(stored, given)
}

/** For verbs that store a policy or complete jobs: a completion never deletes the row of a team's own table. */
export function deletionPolicyOf(
  { policy, judgesWaiting }: Pick<MemoryState, 'policy' | 'judgesWaiting'>,
  override: PolicyOverride | undefined,
): Policy {
  const inForce = policyOf(policy, override)
  if (!judgesWaiting && deletesCompleted(inForce))
    throw invalidArgument(
      'keepCompleted',
      false,
      'true for attached tables: a completion never deletes their rows',
    )
  return inForce
}
