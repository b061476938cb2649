import { UnstuckError } from '../errors/index.ts'
import { clipProfile } from './clip.ts'
import { converterProfile } from './converter.ts'
import { embeddingProfile } from './embedding.ts'
import { executorProfile } from './executor.ts'
import { nativeProfile } from './native.ts'
import type { Profile, ProfileName } from './profile.ts'

const shipped: Record<ProfileName, (schema: string) => Profile> = {
  native: nativeProfile,
  clip: () => clipProfile,
  embedding: () => embeddingProfile,
  executor: () => executorProfile,
  converter: () => converterProfile,
}

export const shippedProfileNames = Object.keys(shipped) as ProfileName[]

/** The profile of this name; `schema` is where the engine lives, and the native table with it. */
export function shippedProfile(name: string, schema: string): Profile {
  if (!Object.hasOwn(shipped, name)) {
    throw new UnstuckError('UNKNOWN_PROFILE', `profile ${JSON.stringify(name)}: there is none of this name`, {
      hint: `Shipped profiles: ${shippedProfileNames.join(', ')}.`,
    })
  }
  return shipped[name as ProfileName](schema)
}
