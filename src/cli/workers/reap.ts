import { describeHidden } from '../../commands/describe-hidden.ts'
import { previewSweep, type SweepAnswer, sweep } from '../../commands/queue-control-commands.ts'
import { type Deployment, type DeploymentTable, openDeployment } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { exitCodes, isUnstuckError, UnstuckError } from '../../errors/index.ts'
import { startReaper } from '../../runtime/services/reaper.ts'
import type { HiddenJobs, ReapedJob } from '../../store/job-store.ts'
import { loadCommandConfig } from '../connection/command-config.ts'
import { eachActingTable } from '../connection/each-acting-table.ts'
import { hiddenLine, markUnhealthy, seenTables } from '../connection/hidden-tables.ts'
import { type CliContext, valueOf, withCommands } from '../connection/with-commands.ts'
import { selectTables, type TableFlags } from '../connection/with-tables.ts'
import { endSignal } from '../terminal/end-signal.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'

export interface ReapFlags extends TableFlags {
  once?: boolean
  dryRun?: boolean
  intervalSec?: string
}

export async function reapCommand(flags: ReapFlags): Promise<void> {
  if (flags.dryRun === true) return withCommands(flags, (context) => preview(context, flags))
  if (flags.once === true) return withCommands(flags, (context) => sweepOnce(context, flags))
  const more = flags.intervalSec === undefined ? {} : { intervalSec: flags.intervalSec }
  const config = loadCommandConfig(flags, more)
  const deployment = openDeployment(config)
  try {
    await sweepUntilStopped(selectTables(deployment, flags), config, flags)
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
    printJobs('WOULD REQUEUE', wouldReap, 'requeued')
    printJobs('WOULD DEAD-LETTER', wouldReap, 'dead')
    printJobs('WOULD CANCEL', wouldReap, 'cancelled')
    printJobs('WOULD NOT TOUCH', wouldReap, 'reported')
  }
  for (const found of hidden) printLine(hiddenLine(found))
  printLine('nothing was changed')
}

async function sweepOnce(context: CliContext, flags: ReapFlags): Promise<void> {
  const { tables, hidden } = await seenTables(context.tables)
  markUnhealthy(hidden)
  const report = (reports: SweepAnswer[]) => {
    if (flags.json === true) return printJson({ tables: reports, hidden })
    for (const { table, ...swept } of reports) printReport(table, swept)
    for (const found of hidden) printLine(hiddenLine(found))
  }
  if (tables.length === 0) return report([])
  await eachActingTable(tables, async ({ name }) => valueOf(await sweep(context, { table: name })), report)
}

/**
 * Sweeps until SIGINT or SIGTERM; a running sweep finishes first. A table whose jobs are hidden is included: its sweeps fail
 * with the reason until its owner grants access.
 */
async function sweepUntilStopped(
  tables: Deployment['tables'],
  config: Config,
  flags: ReapFlags,
): Promise<void> {
  const [{ store }] = tables
  // Fails at once if nothing is installed or the database is unreachable: a broken service must not look alive.
  const stored = await store.readPolicy()
  const seen = await seenTables(tables)
  if (seen.tables.length === 0) throw noTableSeen(seen.hidden)
  for (const found of seen.hidden) process.stderr.write(`unstuck: ${hiddenLine(found)}\n`)
  const intervalMs = config.policy.sweepIntervalMs ?? stored.sweepIntervalMs
  const ended = endSignal()
  if (flags.json !== true)
    printLine(`reaping ${tables.map(nameOf).join(', ')} every ${intervalMs / 1000} s · Ctrl-C to stop`)
  const reaper = startReaper({
    tables,
    intervalMs,
    policy: config.policy,
    onSweep: (table, report) => {
      if (flags.json === true) printJson({ event: 'sweep', table, ...report })
      else printReport(table, report)
    },
    onStandBy: (table) => {
      if (flags.json === true) printJson({ event: 'standing-by', table })
      else printLine(`${table}: another process sweeps it · standing by`)
    },
    onError: (table, error) => printSweepError(table, error, flags.json === true),
    onUncounted: (table, error) => {
      if (flags.json !== true) printProgress(`unstuck: ${table}: trends not counted: ${messageOf(error)}`)
    },
  })
  const signal = await ended
  await reaper.stop()
  if (signal === 'SIGINT') process.exitCode = exitCodes.interrupted
}

function noTableSeen(hidden: HiddenJobs[]): UnstuckError {
  const message = hidden.map(describeHidden).join('; ')
  const hint = `As the owner of the table: ${hidden.map(({ fix }) => fix).join('; ')}`
  return new UnstuckError('PERMISSION_DENIED', message, { hint })
}

const nameOf = ({ name }: DeploymentTable) => name

function printReport(table: string, report: Omit<SweepAnswer, 'table'>): void {
  const { requeuedIds, failedIds, held, holdReason, durationMs } = report
  const hold = held > 0 ? ` · ${held} held (${holdReason ?? ''})` : ''
  printLine(`${table}: ${requeuedIds.length} requeued · ${failedIds.length} dead${hold} · ${durationMs} ms`)
  printJobs('REQUEUED', report.reaped, 'requeued')
  printJobs('DEAD', report.reaped, 'dead')
  printJobs('CANCELLED', report.reaped, 'cancelled')
  printJobs('NOT TOUCHED', report.reaped, 'reported')
}

function printJobs(title: string, reaped: ReapedJob[], action: ReapedJob['action']): void {
  const jobs = reaped.filter((job) => job.action === action)
  if (jobs.length === 0) return
  printLine(`  ${title} ${jobs.length}`)
  for (const job of jobs.slice(0, 20)) {
    const from = job.workerId === null ? '' : ` from ${job.workerId}`
    const next = job.retryInMs === null ? '' : ` → due in ${(job.retryInMs / 1000).toFixed(1)} s`
    printLine(`    ${job.jobId}  ${job.stage ?? ''}  ${job.reason}${from}, attempt ${job.attempt}${next}`)
  }
  if (jobs.length > 20) printLine(`    … and ${jobs.length - 20} more (--json lists all)`)
}

function printSweepError(table: string, error: unknown, isJson: boolean): void {
  const message = messageOf(error)
  const code = isUnstuckError(error) ? error.code : 'INTERNAL'
  if (isJson) printJson({ event: 'sweep-failed', table, code, message })
  else printProgress(`unstuck: ${table}: sweep failed, retrying at the next interval: ${message}`)
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
