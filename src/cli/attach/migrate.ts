import { createInstaller } from '../../compose/index.ts'
import { profileOf } from '../../config/index.ts'
import { exitCodes } from '../../errors/index.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { refuse } from '../jobs/jobs-change.ts'
import { printJson, printLine, printTable, stepPrinter } from '../terminal/output.ts'
import { confirmRemoval } from './confirm-removal.ts'

interface UpFlags extends ConnectionFlags {
  phase?: string[]
  distribute?: boolean
}

export async function migrateUpCommand(flags: UpFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const installer = createInstaller(config)
  const { steps, onStep } = stepPrinter(flags)
  await installer.up(onStep, flags.phase?.map(Number), { distributes: flags.distribute ?? false })
  if (flags.json === true) return printJson({ schema: config.schema, profile: config.profile, steps })
  printLine(`installed in ${installer.place}, profile ${config.profile}`)
  printLine('Next:  unstuck migrate status')
}

interface DownFlags extends ConnectionFlags {
  purge?: boolean
  yes?: boolean
}

export async function migrateDownCommand(flags: DownFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const installer = createInstaller(config)
  const use = await confirmRemoval(installer, profileOf(config), flags)
  if (use === null) return refuse()
  const { steps, onStep } = stepPrinter(flags)
  const wasInstalled = await installer.down({ isPurge: flags.purge ?? false, onStep })
  if (flags.json === true) return printJson({ schema: config.schema, wasInstalled, steps })
  printLine(`${wasInstalled ? 'removed from' : 'nothing is installed in'} ${installer.place}`)
  if (wasInstalled && flags.purge !== true) printLine(installer.keptJobs)
}

export async function migrateStatusCommand(flags: ConnectionFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const installer = createInstaller(config)
  const status = await installer.status()
  if (!status.isCurrent) process.exitCode = exitCodes.problemFound
  if (flags.json === true) return printJson({ schema: config.schema, profile: config.profile, ...status })
  printTable([
    ...status.applied.map((name) => ['✓', 'migration', name, 'applied']),
    ...status.pending.map((name) => ['✗', 'migration', name, 'not applied']),
    ...status.unknown.map((name) => ['✗', 'migration', name, 'from a newer version']),
    [status.engine === 'current' ? '✓' : '✗', 'engine', installer.place, status.engine],
    ...status.tables.map(({ table, state }) => [state === 'current' ? '✓' : '✗', 'table', table, state]),
  ])
  printLine(status.isCurrent ? 'Up to date.' : 'Next:  unstuck migrate up')
}

export function migrateSqlCommand(flags: ConnectionFlags): void {
  const config = loadCommandConfig(flags)
  const sql = createInstaller(config).sql()
  if (flags.json === true) return printJson({ schema: config.schema, profile: config.profile, sql })
  process.stdout.write(sql)
}
