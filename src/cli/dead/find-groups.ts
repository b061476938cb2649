import type { CommandContext } from '../../commands/command.ts'
import { listDeadLetters, type TableGroup } from '../../commands/jobs/dead-letter-commands.ts'
import { UnstuckError } from '../../errors/index.ts'
import type { JobFilter } from '../../store/job-store.ts'
import { valueOf } from '../connection/with-commands.ts'

const MAX_GROUPS = 1000

/** The groups of a cause, one per table. A prefix of the cause id is enough. */
export async function findGroups(context: CommandContext, cause: string): Promise<TableGroup[]> {
  const { groups } = valueOf(await listDeadLetters(context, { limit: MAX_GROUPS }))
  const found = groups.filter(({ group: { causeId } }) => causeId.startsWith(cause))
  const causes = [...new Set(found.map(({ group }) => group.causeId))]
  if (causes.length === 1) return found
  if (causes.length === 0) throw new UnstuckError('JOB_NOT_FOUND', `no dead job has the cause ${cause}`)
  throw new UnstuckError('INVALID_ARGUMENT', `cause ${cause}: more than one starts with this`, {
    hint: causes.slice(0, 5).join(', '),
  })
}

export function filterOfCause(causeId: string): { filter: JobFilter; q: string } {
  return { filter: { status: 'dead', causeId }, q: `status:dead cause:${causeId}` }
}
