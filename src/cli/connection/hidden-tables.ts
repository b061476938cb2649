// Tables whose jobs row security hides from this role. They are never reported healthy: a role that sees no job sees no
// stuck one either.
import { describeHidden } from '../../commands/describe-hidden.ts'
import type { DeploymentTable } from '../../compose/index.ts'
import { exitCodes, isOutage, type UnstuckError } from '../../errors/index.ts'
import type { HiddenJobs } from '../../store/job-store.ts'

export interface SeenTables {
  /** Tables with jobs that this role may see. */
  tables: DeploymentTable[]
  hidden: HiddenJobs[]
  /** Shards that are down: nothing is known about their jobs. */
  silent: { table: DeploymentTable; error: UnstuckError }[]
}

/** Fails if no database answers. */
export async function seenTables(all: readonly DeploymentTable[]): Promise<SeenTables> {
  const tables: DeploymentTable[] = []
  const hidden: HiddenJobs[] = []
  const silent: SeenTables['silent'] = []
  for (const table of all) {
    try {
      const found = await table.store.readHidden()
      if (found?.isAll !== true) tables.push(table)
      if (found !== null) hidden.push(found)
    } catch (error) {
      if (!isOutage(error)) throw error
      silent.push({ table, error })
    }
  }
  const [failure] = silent
  if (failure !== undefined && silent.length === all.length) throw failure.error
  return { tables, hidden, silent }
}

export function markUnhealthy(hidden: HiddenJobs[]): void {
  if (hidden.length > 0) process.exitCode = exitCodes.problemFound
}

/** `✗ row security hides every job of public.jobs from role app: create policy …` */
export const hiddenLine = (hidden: HiddenJobs): string => `✗ ${describeHidden(hidden)}: ${hidden.fix}`
