// The profiles that ship with unstuck. Nothing else in the engine knows their names.
import { UnstuckError } from '../errors/index.ts'
import type { Policy } from '../policy/policy.ts'
import { clipProfile } from './clip.ts'
import { converterProfile } from './converter.ts'
import { embeddingProfile } from './embedding.ts'
import { executorProfile } from './executor.ts'
import { nativeProfile } from './native.ts'
import type { Profile } from './profile.ts'

const shipped = {
  native: nativeProfile,
  clip: () => clipProfile,
  embedding: () => embeddingProfile,
  executor: () => executorProfile,
  converter: () => converterProfile,
} satisfies Record<string, (schema: string) => Profile>

export type ProfileName = keyof typeof shipped

export const shippedProfileNames = Object.keys(shipped) as ProfileName[]

export function isShippedProfile(name: string): name is ProfileName {
  return Object.hasOwn(shipped, name)
}

/** `schema` holds the engine, and the native table with it. */
export function shippedProfile(name: string, schema: string): Profile {
  if (!isShippedProfile(name)) {
    throw new UnstuckError('UNKNOWN_PROFILE', `profile ${JSON.stringify(name)}: there is none of this name`, {
      hint: `Shipped profiles: ${shippedProfileNames.join(', ')}.`,
    })
  }
  return shipped[name](schema)
}

/** The policy a shipped profile starts with. Tables of one profile differ in their default stage only. */
export function shippedPolicy(name: ProfileName): Policy {
  return shipped[name]('unstuck').tables[0].policy
}
