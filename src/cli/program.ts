// The table of commands. Flags that every command has are added in one place.
import { Command, InvalidArgumentError } from 'commander'
import { configCommand } from './commands/config.ts'
import { demoCommand } from './commands/demo.ts'
import {
  migrateDownCommand,
  migrateSqlCommand,
  migrateStatusCommand,
  migrateUpCommand,
} from './commands/migrate.ts'
import { pruneCommand } from './commands/prune.ts'
import { reapCommand } from './commands/reap.ts'
import { statusCommand, stuckCommand } from './commands/status.ts'
import { workerCommand } from './commands/worker.ts'

export function createProgram(): Command {
  const program = new Command('unstuck')
    .description(
      'No job stays stuck in processing: leases, heartbeats and a reaper for PostgreSQL job tables.',
    )
    .showSuggestionAfterError()
    .showHelpAfterError('(unstuck --help lists the commands)')
    .exitOverride()
    .configureHelp({ sortSubcommands: false })

  program
    .command('demo')
    .description('kills a real worker and shows its job come back, on an embedded PostgreSQL')
    .addHelpText('after', example('unstuck demo'))
    .action(demoCommand)

  addMigrate(program)
  addRunning(program)
  addLooking(program)
  return program
}

function addMigrate(program: Command): void {
  const migrate = program
    .command('migrate')
    .description('installs the engine, takes it out, tells what is there')
  withConnection(migrate.command('up'))
    .description('installs what is missing: additive, table by table')
    .addHelpText('after', example('unstuck migrate up --profile clip'))
    .action(migrateUpCommand)
  withConnection(migrate.command('down'))
    .description('takes everything out again; the application’s data stays')
    .option('--purge', 'drop native jobs and their events too')
    .addHelpText('after', example('unstuck migrate down'))
    .action(migrateDownCommand)
  withConnection(migrate.command('status'))
    .description('tells what is installed; exit code 1 where something is missing or differs')
    .addHelpText('after', example('unstuck migrate status --json'))
    .action(migrateStatusCommand)
  withConnection(migrate.command('sql'))
    .description('prints what up would run on an empty database; runs nothing')
    .addHelpText('after', example('unstuck migrate sql --profile clip > unstuck.sql'))
    .action(migrateSqlCommand)
}

function addRunning(program: Command): void {
  withConnection(program.command('worker'))
    .description('runs the handlers of a module: sweeps, claims, processes, drains on SIGTERM')
    .argument('<handlers>', 'a JavaScript module: export default (q) => q.handle(…)')
    .option('--table <name>', 'which table of the profile; its first where absent')
    .option('--concurrency <jobs>', 'how many jobs at once (WORKER_CONCURRENCY)', wholeNumber)
    .addHelpText('after', example('unstuck worker ./handlers.js --concurrency 10'))
    .action(workerCommand)

  withConnection(program.command('reap'))
    .description('takes back jobs whose lease ran out: now and at every interval')
    .option('--once', 'one sweep, then leave')
    .option('--dry-run', 'tell what a sweep would do and change nothing')
    .option('--interval-sec <seconds>', 'between two sweeps; REAPER_INTERVAL_SEC where absent', wholeNumber)
    .addHelpText('after', example('unstuck reap --dry-run'))
    .action(reapCommand)

  withConnection(program.command('prune'))
    .description('deletes ended jobs past the retention (EMBED_JOB_RETENTION_DAYS), once')
    .addHelpText('after', example('unstuck prune'))
    .action(pruneCommand)
}

function addLooking(program: Command): void {
  withConnection(program.command('status'))
    .description('tells how the tables are; exit code 1 where jobs stay past their lease')
    .addHelpText('after', example('unstuck status'))
    .action(statusCommand)
  withConnection(program.command('stuck'))
    .description('lists jobs past their lease; exit code 1 where there are any')
    .addHelpText('after', example('unstuck stuck --json'))
    .action(stuckCommand)

  withConnection(program.command('config'))
    .description('prints every setting with its source')
    .addHelpText('after', example('unstuck config --json'))
    .action(configCommand)
}

function withConnection(command: Command): Command {
  return command
    .option('--database-url <url>', 'over UNSTUCK_DATABASE_URL, DATABASE_URL and PG*')
    .option('--schema <name>', 'where the engine lives (UNSTUCK_SCHEMA; unstuck)')
    .option('--profile <name>', 'native or clip (UNSTUCK_PROFILE; native)')
    .option('--json', 'print one JSON object')
}

const example = (command: string) => `\nExample:\n  $ ${command}\n`

function wholeNumber(text: string): string {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It takes a whole number.')
  return text
}
