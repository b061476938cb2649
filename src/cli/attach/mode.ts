import { Argument, type Command, Option } from 'commander'
import { given } from '../../commands/given.ts'
import type { DeploymentTable } from '../../compose/index.ts'
import type { ModeStatus, Observations, OnForeignSettle, TableMode } from '../../store/job-store.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { type TableFlags, withTables } from '../connection/with-tables.ts'
import { actorOption } from '../jobs/job-flags.ts'
import { showTime } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface ModeFlags extends TableFlags {
  onForeignSettle?: OnForeignSettle
  actor: string
  reason?: string
}

export function defineMode(command: Command): void {
  withConnection(command)
    .addArgument(
      new Argument(
        '[mode]',
        'observe: change nothing; reap: requeue stuck jobs; enforce: also fence writers',
      ).choices(['observe', 'reap', 'enforce']),
    )
    .option('--table <name>', 'one table of the profile')
    .addOption(
      new Option(
        '--on-foreign-settle <what>',
        'with enforce: on a write that ends a leased job without its lease',
      ).choices(['record', 'refuse']),
    )
    .option('--reason <text>', 'reason, recorded in the audit log')
    .addOption(actorOption())
    .addHelpText('after', example('unstuck mode observe'))
    .action(modeCommand)
}

async function modeCommand(mode: TableMode | undefined, flags: ModeFlags): Promise<void> {
  if (mode === undefined && flags.onForeignSettle === undefined)
    return withTables(flags, (tables) => show(tables, flags))
  // Only the owner of a table can change its triggers.
  return withTables(flags, (tables) => change(tables, mode, flags), { asOwner: true })
}

interface TableReport extends ModeStatus {
  table: string
  observations: Observations | null
}

async function show(tables: DeploymentTable[], flags: ModeFlags): Promise<void> {
  const reports: TableReport[] = []
  for (const { name, store } of tables) {
    const status = await store.readMode()
    const observations = await store.readObservations()
    reports.push({ table: name, ...status, observations: observations.since === null ? null : observations })
  }
  if (flags.json === true) return printJson({ tables: reports })
  printTable([
    ['TABLE', 'MODE', 'SINCE', 'FOREIGN WRITES'],
    ...reports.map(({ table, mode, since, onForeignSettle }) => [
      table,
      mode,
      since === null ? '–' : showTime(since),
      mode === 'enforce' ? `${onForeignSettle}${onForeignSettle === 'record' ? 'ed' : 'd'}` : 'pass',
    ]),
  ])
  for (const { table, observations } of reports)
    if (observations !== null) printObservations(table, observations)
}

function printObservations(table: string, seen: Observations): void {
  const { since, wouldRequeue, wouldDeadLetter, wouldCancel, cameBack, stillStuck, reaped, gone } = seen
  printLine()
  printLine(`${table}: sweeps would have done${since === null ? '' : ` since ${showTime(since)}`}`)
  printTable([
    ['  would requeue', String(wouldRequeue), '  still alive', String(cameBack)],
    ['  would dead-letter', String(wouldDeadLetter), '  still stuck', String(stillStuck)],
    ['  would cancel', String(wouldCancel), '  requeued by hand', String(reaped)],
    ['', '', '  gone', String(gone)],
  ])
  if (cameBack > 0)
    printLine(
      `  Still alive: renewed or finished after a sweep would have taken them. Give them a longer lease first.`,
    )
}

async function change(
  tables: DeploymentTable[],
  wanted: TableMode | undefined,
  flags: ModeFlags,
): Promise<void> {
  const { onForeignSettle, actor, reason } = flags
  const changes: (ModeStatus & { table: string; modeBefore: TableMode })[] = []
  for (const { name, store } of tables) {
    const { mode: modeBefore } = await store.readMode()
    const mode = wanted ?? modeBefore
    const isChange = mode !== modeBefore || onForeignSettle !== undefined
    const who = isChange ? given({ actor, reason }) : {}
    const status = await store.setMode(mode, { ...who, ...given({ onForeignSettle }) })
    changes.push({ table: name, modeBefore, ...status })
  }
  if (flags.json === true) return printJson({ tables: changes })
  for (const { table, mode, modeBefore, onForeignSettle: settles } of changes) {
    printLine(`${table}: ${modeBefore === mode ? `is in ${mode}` : `${modeBefore} → ${mode}`}`)
    printLine(`  ${meaning(mode, settles)}`)
    if (modeBefore === 'enforce' && mode !== 'enforce')
      printLine('  The trigger unstuck_fence was removed from the table.')
  }
  if (wanted === 'observe') printLine('Next:  unstuck mode')
}

function meaning(mode: TableMode, onForeignSettle: OnForeignSettle): string {
  if (mode === 'observe')
    return 'Sweeps only record what they would do, and unstuck changes no row. Leases granted before can still end.'
  if (mode === 'reap')
    return 'Sweeps, claims and manual commands change jobs. Writers without a lease are not checked.'
  const consequence =
    onForeignSettle === 'refuse'
      ? 'is refused (SQLSTATE UN004)'
      : 'is recorded, and the holder loses its lease'
  return `Sweeps change jobs, and the trigger unstuck_fence is active: a write that ends a leased job without its lease ${consequence}.`
}
