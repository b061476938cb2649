import { nativePolicy, type Policy } from '../policy/policy.ts'
import { clipProfile } from '../profile/clip.ts'
import { converterProfile } from '../profile/converter.ts'
import { embeddingProfile } from '../profile/embedding.ts'
import { executorProfile } from '../profile/executor.ts'
import type { ProfileName } from '../profile/profile.ts'

/** What each shipped profile starts with. Tables of one profile differ in their default stage only. */
export const shippedPolicies: Record<ProfileName, Policy> = {
  native: nativePolicy,
  clip: clipProfile.tables[0].policy,
  embedding: embeddingProfile.tables[0].policy,
  executor: executorProfile.tables[0].policy,
  converter: converterProfile.tables[0].policy,
}

export function isShippedProfile(name: string): name is ProfileName {
  return Object.hasOwn(shippedPolicies, name)
}
