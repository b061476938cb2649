import { markCause } from '../../commands/jobs/dead-letter-commands.ts'
import type { CauseState } from '../../store/job-store.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { findGroups } from './find-groups.ts'

export const causeStates: CauseState[] = ['new', 'investigating', 'resolved', 'ignored']

interface MarkFlags extends TableFlags {
  as: CauseState
  actor: string
  reason?: string
}

export async function markCommand(cause: string, flags: MarkFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { as: state, reason } = flags
    const marked: { table: string; causeId: string; state: CauseState }[] = []
    for (const { table, group } of await findGroups(context, cause)) {
      const { causeId } = group
      valueOf(await markCause(context, { causeId, state, reason, table }))
      marked.push({ table, causeId, state })
    }
    if (flags.json === true) return printJson({ causes: marked })
    for (const { table, causeId } of marked) printLine(`${table}: ${causeId} is ${state}`)
  })
}
