import { scopes } from '../../commands/actor.ts'
import { actorName } from '../../commands/actor-name.ts'
import type { Answer, CommandContext } from '../../commands/command.ts'
import { type Deployment, openDeployment } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { UnstuckError } from '../../errors/index.ts'
import { sourceCheckOf } from '../../runtime/operations/source-exists.ts'
import { printNotice } from '../terminal/output.ts'
import { loadCommandConfig } from './command-config.ts'
import { selectTables, type TableFlags, withSilence } from './with-tables.ts'

export interface CommandFlags extends TableFlags {
  actor?: string
}

export interface CliContext extends CommandContext {
  tables: Deployment['tables']
  access: Deployment['access']
  config: Config
}

/** Runs `act` with the commands of the HTTP API on the selected tables. Database access grants every scope. */
export async function withCommands(
  flags: CommandFlags,
  act: (context: CliContext) => Promise<void>,
): Promise<void> {
  const config = loadCommandConfig(flags)
  const deployment = openDeployment(config, undefined, printNotice)
  try {
    await withSilence(() =>
      act({
        actor: { id: flags.actor ?? actorName(), scopes },
        isReadOnly: false,
        tables: selectTables(deployment, flags),
        access: deployment.access,
        config,
        policy: config.policy,
        ...sourceCheckOf(config.gateway),
      }),
    )
  } finally {
    await deployment.close()
  }
}

/** All times are the database's. */
export const databaseNow = async ({ access }: Pick<CliContext, 'access'>): Promise<Date> =>
  (await access.readClock()).now

/** The value of a command, or its refusal as an error. */
export function valueOf<Value>(answer: Answer<Value>): Value {
  if (answer.isDone) return answer.value
  const { code, detail, hint } = answer.refusal
  throw new UnstuckError(code, detail, hint === undefined ? {} : { hint })
}

/** Items for output, each with the name of its table. */
export function withTableNames<Value extends object>(
  items: { table: string; value: Value }[],
): (Value & { table: string })[] {
  return items.map(({ table, value }) => ({ table, ...value }))
}
