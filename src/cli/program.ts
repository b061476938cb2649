// The table of commands.
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
import { statusCommand } from './health/status.ts'
import { stuckCommand } from './health/stuck.ts'
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
import { withMetrics } from './workers/serve-metrics.ts'
import { workerCommand } from './workers/worker.ts'
import { addWorkers } from './workers/workers.ts'

/** `isJson`: `reportError` prints usage errors instead of commander. */
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

/** Adds exit codes and the hint after an error to every help. */
function completeHelp(program: Command): void {
  for (const command of leafCommands(program)) {
    const note = takeExitNote(command)
    command
      .addHelpText('after', exitText(exitNotesOf(command, note)))
      .showHelpAfterError(`(${pathOf(command)} --help shows its options)`)
  }
}

function addMigrate(program: Command): void {
  const migrate = program.command('migrate').description('installs, upgrades and removes the engine')
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

function addRunning(program: Command): void {
  withMetrics(withConnection(program.command('worker')))
    .description('runs the handlers of a module until SIGTERM, then drains')
    .argument('<handlers>', 'a JavaScript module: export default (q) => q.handle(…)')
    .option('--table <name>', 'table of the profile; default: the first')
    .option('--concurrency <jobs>', 'maximum number of running jobs (WORKER_CONCURRENCY)', wholeNumber)
    .addHelpText('after', example('unstuck worker ./handlers.js --concurrency 10'))
    .action(workerCommand)

  withMetrics(withConnection(program.command('reaper')))
    .description('requeues jobs whose lease expired, at every interval until SIGTERM')
    .option('--interval-sec <seconds>', 'seconds between sweeps (REAPER_INTERVAL_SEC)', wholeNumber)
    .addHelpText('after', example('unstuck reaper'))
    .action(reapCommand)

  withMetrics(withTable(withConnection(program.command('reap'))))
    .description('sweeps like reaper; once with --once')
    .option('--once', 'run one sweep and exit')
    .option('--dry-run', 'show what a sweep would do and change nothing')
    .option('--interval-sec <seconds>', 'seconds between sweeps (REAPER_INTERVAL_SEC)', wholeNumber)
    .addHelpText('after', example('unstuck reap --dry-run'))
    .action(reapCommand)

  withConnection(program.command('prune'))
    .description('deletes finished jobs past the retention, once')
    .addHelpText('after', example('unstuck prune'))
    .action(pruneCommand)
}

function addLooking(program: Command): void {
  withConnection(program.command('status'))
    .description('shows queue health; exit code 1 if jobs are past their lease or nobody sweeps')
    .addHelpText('after', example('unstuck status'))
    .action(statusCommand)
  withConnection(program.command('stuck'))
    .description('lists jobs past their lease; exit code 1 if there are any')
    .addHelpText('after', example('unstuck stuck --json'))
    .action(stuckCommand)

  withConnection(program.command('config'))
    .description('prints every setting with its source')
    .addHelpText('after', example('unstuck config --json'))
    .action(configCommand)
}

function wholeNumber(text: string): string {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Must be a whole number.')
  return text
}
