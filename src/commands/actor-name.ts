import { userInfo } from 'node:os'

/** The user, recorded with every change. In a container the user may have no name. */
export function actorName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
