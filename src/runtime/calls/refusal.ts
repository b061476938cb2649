import { isUnstuckError } from '../../errors/index.ts'

/** The store rejected its input: nothing was written, and the same call would be rejected again. */
export function isRefusal(error: unknown): boolean {
  return isUnstuckError(error, 'INVALID_ARGUMENT') || isUnstuckError(error, 'ROW_REFUSED')
}
