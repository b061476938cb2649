// Dead letters grouped by cause, and the state that people give a cause (OPS-9).
import type { CauseState, DeadJobGroup } from '../../store/job-store.ts'
import { type CommandContext, command, done, findTables, refused } from '../command.ts'
import { given } from '../given.ts'

export interface TableGroup {
  table: string
  group: DeadJobGroup
}

const MAX_GROUPS = 1000

export const listDeadLetters = command(
  'listDeadLetters',
  async (context, { limit, table: name }: { limit: number; table?: string | undefined }) => {
    const tables = findTables(context, name)
    if (!tables.isDone) return tables
    const { owner } = context.actor
    const groups: TableGroup[] = []
    let isComplete = true
    for (const table of tables.value) {
      const found = await table.store.groupDeadJobs({ limit, ...given({ owner }) })
      groups.push(...found.groups.map((group) => ({ table: table.name, group: seenBy(context, group) })))
      // More causes than asked for are cut off.
      isComplete &&= found.isComplete && found.groups.length < limit
    }
    return done<{ groups: TableGroup[]; isComplete: boolean }>({ groups, isComplete })
  },
)

/** Actor and reason of a state concern the jobs of all owners. */
function seenBy({ actor }: CommandContext, group: DeadJobGroup): DeadJobGroup {
  return actor.owner === undefined ? group : { ...group, changedBy: null, stateReason: null }
}

export interface MarkCauseInput {
  causeId: string
  state: CauseState
  reason?: string | undefined
  table?: string | undefined
}

/** In the named table, or in every table with dead jobs of this cause. */
export const markCause = command(
  'markCause',
  async (context, { causeId, state, reason, table: name }: MarkCauseInput) => {
    const tables = findTables(context, name)
    if (!tables.isDone) return tables
    const marked: TableGroup[] = []
    for (const table of tables.value) {
      const find = async () =>
        (await table.store.groupDeadJobs({ limit: MAX_GROUPS })).groups.find(
          (group) => group.causeId === causeId,
        )
      if ((await find()) === undefined) continue
      await table.store.markCause(causeId, { state, actor: context.actor.id, ...given({ reason }) })
      const group = await find()
      if (group !== undefined) marked.push({ table: table.name, group })
    }
    const [first] = marked
    return first === undefined
      ? refused('JOB_NOT_FOUND', `no dead job has the cause ${causeId}`)
      : done<TableGroup>(first)
  },
)
