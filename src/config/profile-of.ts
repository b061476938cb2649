import type { Profile } from '../profile/profile.ts'
import { shippedProfile } from '../profile/shipped.ts'
import type { Config } from './config.ts'

/** The profile in force: that of the config file, or a shipped one by its name. */
export function profileOf({ ownProfile, profile, schema }: Config): Profile {
  return ownProfile ?? shippedProfile(profile, schema)
}
