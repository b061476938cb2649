import type { Command } from 'commander'
import { createInstaller } from '../../compose/index.ts'
import { type Config, profileOf } from '../../config/index.ts'
import { type ConnectionFlags, loadOneShard } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { refuse } from '../jobs/jobs-change.ts'
import { printJson, printLine, stepPrinter } from '../terminal/output.ts'
import { confirmRemoval } from './confirm-removal.ts'
import { readTableName } from './table-name.ts'

interface DetachFlags extends ConnectionFlags {
  table?: string
  yes?: boolean
}

export function defineDetach(command: Command): void {
  withConnection(command)
    .option('--table <name>', 'schema.name: detach this table only')
    .option('--yes', 'do not ask, even if other tables lose the engine too')
    .addHelpText('after', example('unstuck detach --table public.video_jobs'))
    .action(detachCommand)
}

async function detachCommand(flags: DetachFlags): Promise<void> {
  const config = loadOneShard(flags)
  const only = flags.table === undefined ? {} : { only: [qualified(config, flags.table)] }
  const { steps, onStep } = stepPrinter(flags)
  const installer = createInstaller(config)
  const use =
    flags.table === undefined ? await confirmRemoval(installer, profileOf(config), flags) : undefined
  if (use === null) return refuse()
  const wasInstalled = await installer.down({ isPurge: false, ...only, onStep })
  if (flags.json === true) return printJson({ schema: config.schema, wasInstalled, steps })
  if (!wasInstalled) return printLine(`nothing is installed in ${installer.place}`)
  if (flags.table !== undefined) return printLine(`${flags.table} is detached`)
  printLine(`removed from ${installer.place}; your rows and columns stay`)
  if (use !== undefined && use.ownJobs > 0) printLine(installer.keptJobs)
}

/** A name without a schema is resolved in the profile, else in public. */
function qualified(config: Config, given: string): string {
  const { schema, table } = readTableName(given)
  const ofProfile = profileOf(config).tables.find((candidate) => candidate.table === table)
  return `${schema ?? ofProfile?.schema ?? 'public'}.${table}`
}
