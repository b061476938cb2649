import type { Command } from 'commander'
import { describeHidden } from '../../commands/describe-hidden.ts'
import { previewSweep, type SweepAnswer, sweep } from '../../commands/queue-control-commands.ts'
import { type Deployment, type DeploymentTable, openDeployment } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { exitCodes, invalidArgument, isUnstuckError, UnstuckError } from '../../errors/index.ts'
import { RuntimeEventEmitter } from '../../observe/events.ts'
import { startReaper } from '../../runtime/services/reaper.ts'
import { runSweep } from '../../runtime/services/run-sweep.ts'
import { processName } from '../../runtime/worker/process-name.ts'
import type { HiddenJobs, ReapedJob } from '../../store/job-store.ts'
import { loadCommandConfig } from '../connection/command-config.ts'
import { hiddenLine, markUnhealthy, seenTables } from '../connection/hidden-tables.ts'
import { type CliContext, valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { selectTables, type TableFlags } from '../connection/with-tables.ts'
import { readWholeNumber, withTable } from '../jobs/job-flags.ts'
import { endSignal } from '../terminal/end-signal.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { observeReaper } from './observe-reaper.ts'
import { printReport, printWouldReap } from './print-sweep.ts'
import { type MetricsFlags, withMetrics } from './serve-metrics.ts'

export interface ReapFlags extends TableFlags, MetricsFlags {
  once?: boolean
  dryRun?: boolean
  intervalSec?: string
}

export function defineReaper(command: Command): void {
  withInterval(withMetrics(withConnection(command)))
    .addHelpText('after', example('unstuck reaper'))
    .action(reapCommand)
}

export function defineReap(command: Command): void {
  withInterval(
    withMetrics(withTable(withConnection(command)))
      .option('--once', 'run one sweep and exit')
      .option('--dry-run', 'show what a sweep would do and change nothing'),
  )
    .addHelpText('after', example('unstuck reap --dry-run'))
    .action(reapCommand)
}

const withInterval = (command: Command): Command =>
  command.option('--interval-sec <seconds>', 'seconds between sweeps (REAPER_INTERVAL_SEC)', readWholeNumber)

async function reapCommand(flags: ReapFlags): Promise<void> {
  if ((flags.dryRun === true || flags.once === true) && flags.metricsPort !== undefined)
    throw invalidArgument('--metrics-port', flags.metricsPort, 'a reaper that runs until it is stopped')
  if (flags.dryRun === true) return withCommands(flags, (context) => preview(context, flags))
  if (flags.once === true) return withCommands(flags, (context) => sweepOnce(context, flags))
  const more = flags.intervalSec === undefined ? {} : { intervalSec: flags.intervalSec }
  const config = loadCommandConfig(flags, more)
  const events = new RuntimeEventEmitter()
  const deployment = openDeployment(config, undefined, (notice) => events.emit('jobs:not-understood', notice))
  try {
    const tables = selectTables({ ...deployment, tables: deployment.parts }, flags)
    await sweepUntilStopped(tables, config, flags, events)
  } finally {
    await deployment.close()
  }
}

async function preview(context: CliContext, flags: ReapFlags): Promise<void> {
  const { tables, hidden } = await seenTables(context.tables)
  markUnhealthy(hidden)
  const previews: { table: string; wouldReap: ReapedJob[] }[] = []
  for (const { name } of tables) {
    const { reaped } = valueOf(await previewSweep(context, { table: name }))
    previews.push({ table: name, wouldReap: reaped })
  }
  if (flags.json === true) return printJson({ dryRun: true, tables: previews, hidden })
  for (const { table, wouldReap } of previews) {
    printLine(`${table}: ${wouldReap.length === 0 ? 'nothing to requeue' : ''}`.trimEnd())
    printWouldReap(wouldReap)
  }
  for (const found of hidden) printLine(hiddenLine(found))
  printLine('nothing was changed')
}

async function sweepOnce(context: CliContext, flags: ReapFlags): Promise<void> {
  const { tables, hidden } = await seenTables(context.tables)
  markUnhealthy(hidden)
  const reports: (SweepAnswer | ObservedTable)[] = []
  for (const table of tables) reports.push(await sweepOrObserve(context, table))
  if (flags.json === true) return printJson({ tables: reports, hidden })
  for (const report of reports) {
    if ('wouldReap' in report) printObserved(report)
    else printReport(report.table, report)
  }
  for (const found of hidden) printLine(hiddenLine(found))
}

interface ObservedTable {
  table: string
  mode: 'observe'
  wouldReap: ReapedJob[]
}

/** In mode observe a sweep records what it would do, as that of a reaper does, and changes nothing (OPS-14). */
async function sweepOrObserve(
  context: CliContext,
  { name, store }: DeploymentTable,
): Promise<SweepAnswer | ObservedTable> {
  try {
    return valueOf(await sweep(context, { table: name }))
  } catch (error) {
    if (!isUnstuckError(error, 'WRONG_MODE')) throw error
  }
  await runSweep(store, { reaper: { reaperId: processName() }, policy: context.config.policy })
  const { reaped } = valueOf(await previewSweep(context, { table: name }))
  return { table: name, mode: 'observe', wouldReap: reaped }
}

function printObserved({ table, wouldReap }: ObservedTable): void {
  printLine(`${table}: observe mode, nothing was changed · unstuck mode reap --table ${table} to requeue`)
  printWouldReap(wouldReap)
}

/**
 * Sweeps until SIGINT or SIGTERM; a running sweep finishes first. A table whose jobs are hidden is included: its sweeps fail
 * with the reason until its owner grants access.
 */
async function sweepUntilStopped(
  tables: Deployment['tables'],
  config: Config,
  flags: ReapFlags,
  events: RuntimeEventEmitter,
): Promise<void> {
  // Fails at once if nothing is installed or no database is reachable: a broken service must not look alive.
  const seen = await seenTables(tables)
  const [first] = seen.tables
  if (first === undefined) throw noTableSeen(seen.hidden)
  const stored = await first.store.readPolicy()
  for (const found of seen.hidden) process.stderr.write(`unstuck: ${hiddenLine(found)}\n`)
  for (const { table, error } of seen.silent)
    process.stderr.write(`unstuck: warning: ${table.name} does not answer: ${error.message}\n`)
  const intervalMs = config.policy.sweepIntervalMs ?? stored.sweepIntervalMs
  const ended = endSignal()
  const { observers, stop } = await observeReaper(tables, config, flags, events)
  try {
    observers.onStart(tables.map(nameOf), intervalMs)
    const start = (swept: DeploymentTable[]) =>
      startReaper({ tables: swept, intervalMs, policy: config.policy, ...observers })
    // A shard that is down delays no sweep of the others.
    const reapers = config.shards === null ? [start(tables)] : tables.map((table) => start([table]))
    const signal = await ended
    await Promise.all(reapers.map((reaper) => reaper.stop()))
    if (signal === 'SIGINT') process.exitCode = exitCodes.interrupted
  } finally {
    await stop()
  }
}

function noTableSeen(hidden: HiddenJobs[]): UnstuckError {
  const message = hidden.map(describeHidden).join('; ')
  const hint = `As the owner of the table: ${hidden.map(({ fix }) => fix).join('; ')}`
  return new UnstuckError('PERMISSION_DENIED', message, { hint })
}

const nameOf = ({ name }: DeploymentTable) => name
