import type { DeploymentTable } from '../compose.ts'
import { UnstuckError } from '../errors/index.ts'
import type { DeadJobGroup } from '../store/job-store.ts'

export interface FoundGroup {
  table: DeploymentTable
  group: DeadJobGroup
}

/** The groups of this cause, one for each table that has it. The beginning of a cause will do. */
export async function findGroups(tables: DeploymentTable[], cause: string): Promise<FoundGroup[]> {
  const found: FoundGroup[] = []
  for (const table of tables) {
    const { groups } = await table.store.groupDeadJobs({ limit: 1000 })
    found.push(
      ...groups.filter(({ causeId }) => causeId.startsWith(cause)).map((group) => ({ table, group })),
    )
  }
  const causes = [...new Set(found.map(({ group }) => group.causeId))]
  if (causes.length === 1) return found
  if (causes.length === 0) throw new UnstuckError('JOB_NOT_FOUND', `cause ${cause}: no dead job has it`)
  throw new UnstuckError('INVALID_ARGUMENT', `cause ${cause}: more than one begins with this`, {
    hint: causes.slice(0, 5).join(', '),
  })
}
