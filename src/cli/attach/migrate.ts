import { type Command, Option } from 'commander'
import { createInstaller, type Installer } from '../../compose/index.ts'
import { type Config, configOfShard, profileOf } from '../../config/index.ts'
import { exitCodes, invalidArgument } from '../../errors/index.ts'
import { type ConnectionFlags, loadCommandConfig, loadOneShard } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { refuse } from '../jobs/jobs-change.ts'
import { printJson, printLine, printTable, stepPrinter } from '../terminal/output.ts'
import { confirmRemoval } from './confirm-removal.ts'

interface UpFlags extends ConnectionFlags {
  phase?: string[]
  distribute?: boolean
}

export function defineMigrate(migrate: Command): void {
  withConnection(migrate.command('up'))
    .description('installs or upgrades the engine; additive, table by table')
    .addOption(
      new Option(
        '--phase <number...>',
        'only these phases of a profile with phases; 1 is always included; default: all',
      ).choices(['1', '2', '3']),
    )
    .option('--distribute', 'Citus: place the schema on a node of the cluster; it stays so')
    .addHelpText('after', example('unstuck migrate up --profile clip'))
    .action(migrateUpCommand)
  withConnection(migrate.command('down'))
    .description('removes the engine; your data stays')
    .option('--purge', 'also drop native jobs and their events')
    .option('--yes', 'do not ask, even if other tables lose the engine too')
    .addHelpText('after', example('unstuck migrate down'))
    .action(migrateDownCommand)
  withConnection(migrate.command('status'))
    .description('shows what is installed; exit code 1 if something is missing or differs')
    .addHelpText('after', example('unstuck migrate status --json'))
    .action(migrateStatusCommand)
  withConnection(migrate.command('sql'))
    .description('prints the SQL of up for an empty database; runs nothing')
    .addHelpText('after', example('unstuck migrate sql --profile clip > unstuck.sql'))
    .action(migrateSqlCommand)
}

async function migrateUpCommand(flags: UpFlags): Promise<void> {
  if (flags.distribute === true && flags.store !== undefined)
    throw invalidArgument('--distribute', true, 'a PostgreSQL server with Citus, not --store')
  const config = loadCommandConfig(flags)
  const installed: { schema: string; shard: number | null; steps: string[] }[] = []
  for (const each of eachShard(config)) {
    const installer = createInstaller(each)
    const { steps, onStep } = stepPrinter(flags)
    await installer.up(onStep, flags.phase?.map(Number), { distributes: flags.distribute ?? false })
    installed.push({ schema: each.schema, shard: each.shard, steps })
    if (flags.json !== true) printLine(`installed in ${installer.place}, profile ${each.profile}`)
  }
  if (flags.json !== true) return printLine('Next:  unstuck migrate status')
  if (config.shards !== null) return printJson({ profile: config.profile, shards: installed })
  const [{ schema, steps } = { schema: config.schema, steps: [] }] = installed
  printJson({ schema, profile: config.profile, steps })
}

/** One after the other: a shard that cannot be reached stops the command, which can be repeated. */
function eachShard(config: Config): Config[] {
  return config.shards?.map((shard) => configOfShard(config, shard)) ?? [config]
}

interface DownFlags extends ConnectionFlags {
  purge?: boolean
  yes?: boolean
}

async function migrateDownCommand(flags: DownFlags): Promise<void> {
  const config = loadOneShard(flags)
  const installer = createInstaller(config)
  const use = await confirmRemoval(installer, profileOf(config), flags)
  if (use === null) return refuse()
  const { steps, onStep } = stepPrinter(flags)
  const wasInstalled = await installer.down({ isPurge: flags.purge ?? false, onStep })
  if (flags.json === true) return printJson({ schema: config.schema, wasInstalled, steps })
  printLine(`${wasInstalled ? 'removed from' : 'nothing is installed in'} ${installer.place}`)
  if (wasInstalled && flags.purge !== true) printLine(installer.keptJobs)
}

async function migrateStatusCommand(flags: ConnectionFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const found = []
  for (const each of eachShard(config)) {
    const installer = createInstaller(each)
    const status = await installer.status()
    if (!status.isCurrent) process.exitCode = exitCodes.problemFound
    found.push({ schema: each.schema, shard: each.shard, status })
    if (flags.json !== true) printStatus(installer.place, status)
  }
  if (flags.json !== true)
    return printLine(
      found.every(({ status }) => status.isCurrent) ? 'Up to date.' : 'Next:  unstuck migrate up',
    )
  const { profile } = config
  if (config.shards === null) return printJson({ schema: config.schema, profile, ...found[0]?.status })
  printJson({ profile, shards: found.map(({ status, ...place }) => ({ ...place, ...status })) })
}

function printStatus(place: string, status: Awaited<ReturnType<Installer['status']>>): void {
  printTable([
    ...status.applied.map((name) => ['✓', 'migration', name, 'applied']),
    ...status.pending.map((name) => ['✗', 'migration', name, 'not applied']),
    ...status.unknown.map((name) => ['✗', 'migration', name, 'from a newer version']),
    [status.engine === 'current' ? '✓' : '✗', 'engine', place, status.engine],
    ...status.tables.map(({ table, state }) => [state === 'current' ? '✓' : '✗', 'table', table, state]),
  ])
}

function migrateSqlCommand(flags: ConnectionFlags): void {
  const config = loadOneShard(flags)
  const sql = createInstaller(config).sql()
  if (flags.json === true) return printJson({ schema: config.schema, profile: config.profile, sql })
  process.stdout.write(sql)
}
