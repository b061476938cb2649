import { UnstuckError } from '../../errors/index.ts'
import type { TableProfile } from '../../profile/profile.ts'

/** Refuses to start a worker that could claim nothing. The database refuses each claim too. */
export function assertClaimable({ schema, table, stateColumns }: TableProfile): void {
  if (stateColumns === undefined || stateColumns.succeeded !== undefined) return
  throw new UnstuckError(
    'NOT_SUPPORTED',
    `${schema}.${table} has no status and no time for success, so no worker can claim its jobs`,
    {
      hint: 'unstuck attach --plan prints the column that is missing. unstuck reaper requeues stuck jobs without it.',
    },
  )
}
