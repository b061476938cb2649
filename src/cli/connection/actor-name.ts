import { userInfo } from 'node:os'

/** Who typed the command, kept with what it changed. A container may have a user without a name. */
export function actorName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
