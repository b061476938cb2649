// The table of commands. Flags that every command has are added in one place.
import { Command, InvalidArgumentError, Option } from 'commander'
import { addDemo } from '../demo/command.ts'
import { packageVersion } from '../http/package-version.ts'
import { addAttach } from './attach/attach.ts'
import { addDetach } from './attach/detach.ts'
import { addInit } from './attach/init.ts'
import {
  migrateDownCommand,
  migrateSqlCommand,
  migrateStatusCommand,
  migrateUpCommand,
} from './attach/migrate.ts'
import { addMode } from './attach/mode.ts'
import { addScan } from './attach/scan.ts'
import { example, withConnection } from './connection/with-connection.ts'
import { addDead } from './dead/dead.ts'
import { configCommand } from './health/config.ts'
import { addDoctor } from './health/doctor.ts'
import { addDrill } from './health/drill.ts'
import { statusCommand, stuckCommand } from './health/status.ts'
import { addEvents } from './jobs/events.ts'
import { withTable } from './jobs/job-flags.ts'
import { addJobs } from './jobs/jobs.ts'
import { addWhy } from './jobs/why.ts'
import { addBreaker } from './queues/breaker.ts'
import { addLimits } from './queues/limits.ts'
import { addQueues } from './queues/queues.ts'
import { addSchedules } from './queues/schedules.ts'
import {
  describeOption,
  exitNotesOf,
  exitText,
  leafCommands,
  pathOf,
  takeExitNote,
} from './reference/command-tree.ts'
import { addCompletion } from './reference/completion.ts'
import { addServe } from './server/serve.ts'
import { addTokens } from './server/tokens.ts'
import { addWebhooks } from './server/webhooks.ts'
import { printErrorText } from './terminal/output.ts'
import { addTop } from './top/top.ts'
import { pruneCommand } from './workers/prune.ts'
import { reapCommand } from './workers/reap.ts'
import { workerCommand } from './workers/worker.ts'
import { addWorkers } from './workers/workers.ts'

/** `isJson`: what commander would say of wrong words is left to `reportError`. */
export function createProgram({ isJson = false }: { isJson?: boolean } = {}): Command {
  const program = new Command('unstuck')
    .description(
      'No job stays stuck in processing: leases, heartbeats and a reaper for PostgreSQL job tables.',
    )
    .version(packageVersion, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(unstuck --help lists the commands)')
    .exitOverride()
    .configureHelp({ sortSubcommands: false, optionDescription: describeOption })
    .configureOutput({ writeErr: isJson ? () => {} : printErrorText })

  addDemo(program)

  addScan(program)
  addInit(program)
  addAttach(program)
  addDetach(program)
  addMigrate(program)
  addMode(program)
  addDoctor(program)
  addDrill(program)
  addRunning(program)
  addLooking(program)
  addTop(program)
  addEvents(program)
  addJobs(program)
  addDead(program)
  addWhy(program)
  addQueues(program)
  addLimits(program)
  addBreaker(program)
  addSchedules(program)
  addServe(program)
  addTokens(program)
  addWorkers(program)
  addWebhooks(program)
  addCompletion(program)
  completeHelp(program)
  return program
}

/** What every help has: the exit codes, and where to look after a mistake. */
function completeHelp(program: Command): void {
  for (const command of leafCommands(program)) {
    const note = takeExitNote(command)
    command
      .addHelpText('after', exitText(exitNotesOf(command, note)))
      .showHelpAfterError(`(${pathOf(command)} --help shows its options)`)
  }
}

function addMigrate(program: Command): void {
  const migrate = program
    .command('migrate')
    .description('installs the engine, takes it out, tells what is there')
  withConnection(migrate.command('up'))
    .description('installs what is missing: additive, table by table')
    .addOption(
      new Option(
        '--phase <number...>',
        'only these steps of a profile that has steps; the first always; all where absent',
      ).choices(['1', '2', '3']),
    )
    .addHelpText('after', example('unstuck migrate up --profile clip'))
    .action(migrateUpCommand)
  withConnection(migrate.command('down'))
    .description('takes everything out again; the application’s data stays')
    .option('--purge', 'drop native jobs and their events too')
    .option('--yes', 'do not ask, though others lose the engine too')
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

  withConnection(program.command('reaper'))
    .description('takes back jobs whose lease ran out: now and at every interval, until SIGTERM')
    .option('--interval-sec <seconds>', 'between two sweeps; REAPER_INTERVAL_SEC where absent', wholeNumber)
    .addHelpText('after', example('unstuck reaper'))
    .action(reapCommand)

  withTable(withConnection(program.command('reap')))
    .description('one sweep by hand; without --once or --dry-run it goes on like reaper')
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

function wholeNumber(text: string): string {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It takes a whole number.')
  return text
}
