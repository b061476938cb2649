// Dead letters by cause, and what people think of a cause (OPS-9).
import type { CauseState, DeadJobGroup } from '../../store/job-store.ts'
import { type CommandContext, command, done, findTable, refused } from '../command.ts'

export interface TableGroup {
  table: string
  group: DeadJobGroup
}

const MAX_GROUPS = 1000

export const listDeadLetters = command(
  'listDeadLetters',
  async (context, { limit, table: name }: { limit: number; table?: string | undefined }) => {
    const named = findTable(context, name)
    if (!named.isDone) return named
    const { owner } = context.actor
    const groups: TableGroup[] = []
    let isComplete = true
    for (const table of name === undefined ? context.tables : [named.value]) {
      const found = await table.store.groupDeadJobs({ limit, ...(owner === undefined ? {} : { owner }) })
      groups.push(...found.groups.map((group) => ({ table: table.name, group: seenBy(context, group) })))
      isComplete &&= found.isComplete
    }
    return done<{ groups: TableGroup[]; isComplete: boolean }>({ groups, isComplete })
  },
)

/** Who thinks so, and why, concerns the jobs of all owners. */
function seenBy({ actor }: CommandContext, group: DeadJobGroup): DeadJobGroup {
  return actor.owner === undefined ? group : { ...group, changedBy: null, stateReason: null }
}

export interface MarkCauseInput {
  causeId: string
  state: CauseState
  reason?: string | undefined
  table?: string | undefined
}

/** In every table that has dead jobs of the cause, or in the one that is named. */
export const markCause = command(
  'markCause',
  async (context, { causeId, state, reason, table: name }: MarkCauseInput) => {
    const named = findTable(context, name)
    if (!named.isDone) return named
    const marked: TableGroup[] = []
    for (const table of name === undefined ? context.tables : [named.value]) {
      const find = async () =>
        (await table.store.groupDeadJobs({ limit: MAX_GROUPS })).groups.find(
          (group) => group.causeId === causeId,
        )
      if ((await find()) === undefined) continue
      const why = reason === undefined ? {} : { reason }
      await table.store.markCause(causeId, { state, actor: context.actor.id, ...why })
      const group = await find()
      if (group !== undefined) marked.push({ table: table.name, group })
    }
    const [first] = marked
    return first === undefined
      ? refused('JOB_NOT_FOUND', `no dead job has the cause ${causeId}`)
      : done<TableGroup>(first)
  },
)
