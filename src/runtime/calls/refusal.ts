import { isUnstuckError } from '../../errors/index.ts'

/** The store has looked at what it was given and does not take it: nothing was written, and the same again would be refused. */
export function isRefusal(error: unknown): boolean {
  return isUnstuckError(error, 'INVALID_ARGUMENT') || isUnstuckError(error, 'ROW_REFUSED')
}
