import type { CauseState } from '../../store/job-store.ts'
import { findGroups } from '../find-groups.ts'
import { printJson, printLine } from '../output.ts'
import { type TableFlags, withTables } from '../with-tables.ts'

export const causeStates: CauseState[] = ['new', 'investigating', 'resolved', 'ignored']

interface MarkFlags extends TableFlags {
  as: CauseState
  actor: string
  reason?: string
}

export async function markCommand(cause: string, flags: MarkFlags): Promise<void> {
  await withTables(flags, async (tables) => {
    const { as: state, actor, reason } = flags
    const marked: { table: string; causeId: string; state: CauseState }[] = []
    for (const { table, group } of await findGroups(tables, cause)) {
      const why = reason === undefined ? {} : { reason }
      await table.store.markCause(group.causeId, { state, actor, ...why })
      marked.push({ table: table.name, causeId: group.causeId, state })
    }
    if (flags.json === true) return printJson({ causes: marked })
    for (const { table, causeId } of marked) printLine(`${table}: ${causeId} is ${state}`)
  })
}
