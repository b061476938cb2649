import { type Command, Option } from 'commander'
import { type ScannedTable, type ScanReport, scan } from '../../compose.ts'
import { exitCodes } from '../../errors/index.ts'
import { showDuration } from '../../policy/show-duration.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { readDuration } from '../terminal/duration.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'

interface ScanFlags extends ConnectionFlags {
  olderThan: number
}

const DEFAULT_OLDER_THAN_MS = 900_000

export function addScan(program: Command): void {
  withConnection(program.command('scan'))
    .description('finds job tables, whoever made them, and what is stuck in each; writes nothing')
    .argument('[url]', 'the database; --database-url where absent')
    .addOption(
      new Option(
        '--older-than <duration>',
        'where no lease tells, stuck means silent for longer: 30s, 10m, 2h, 1d',
      )
        .argParser(readDuration)
        .default(DEFAULT_OLDER_THAN_MS, '15m'),
    )
    .addHelpText('after', example('unstuck scan postgres://readonly@localhost/app --older-than 30m'))
    .action(scanCommand)
}

/** Exit code 1 where something is stuck. */
async function scanCommand(url: string | undefined, flags: ScanFlags): Promise<void> {
  const { olderThan: olderThanMs } = flags
  const config = loadCommandConfig(url === undefined ? flags : { ...flags, databaseUrl: url })
  const report = await scan(config, {
    olderThanMs,
    onTable: (table, index, count) => {
      if (process.stderr.isTTY) printProgress(`  ${index}/${count} ${table}`)
    },
  })
  if (report.tables.some(({ counts }) => (counts?.stuck ?? 0) > 0)) process.exitCode = exitCodes.problemFound
  if (flags.json === true) return printJson({ olderThanMs, ...report })
  printReport(report, olderThanMs)
}

function printReport(report: ScanReport, olderThanMs: number): void {
  const { database, version, role, isStandby, tables, isCut } = report
  printLine(`${database}  PostgreSQL ${version}${isStandby ? ', a standby' : ''}, as ${role}`)
  printLine()
  const told = tables.filter(isWorthTelling)
  for (const table of told) printTable(table, olderThanMs)
  if (told.length === 0) printLine('No job table was found that this role can see.')
  if (isCut) printLine('There are more tables than a scan looks at: some were left out.')
  printLine(
    'Nothing was written: every transaction was read-only (transaction_read_only = on) and got no id.',
  )
  const next = told.find(({ counts, next: command }) => (counts?.stuck ?? 0) > 0 && command !== null)
  if (next !== undefined) printLine(`Next:  ${next.next ?? ''}`)
}

/** A weak guess in which nothing runs is most likely no job table. */
const isWorthTelling = ({ certainty, counts, problem }: ScannedTable) =>
  certainty !== 'unsure' || problem !== null || (counts?.running ?? 0) > 0

function printTable(table: ScannedTable, olderThanMs: number): void {
  const { schema, table: name, counts, problem, isFiltered, remedy, next } = table
  printLine(`${schema}.${name}  ${describeMaker(table)}`)
  if (problem !== null) printLine(`  ! not counted: ${problem}`)
  if (isFiltered) printLine('  ! row-level security hides rows from this role: there may be more')
  if (counts !== null) {
    const { running, isCut, stuck, silent, unjudged, stuckIds } = counts
    printLine(`  ${running}${isCut ? ' or more' : ''} running · ${stuck} stuck${agesOf(table)}`)
    if (stuck > 0) {
      printLine(`  ✗ ids: ${stuckIds.join(', ')}${stuck > stuckIds.length ? ', …' : ''}`)
      printLine(`    how it is known: ${describeRule(table, olderThanMs)}`)
      printLine(`    what brings it back: ${remedy}`)
      if (next !== null) printLine(`    ${next}`)
    }
    if (silent > 0) printLine(`  ⚠ ${describeSilent(table, olderThanMs)}`)
    if (unjudged > 0) printLine(`  ⚠ ${unjudged} running with no time at all to judge them by`)
  }
  printLine()
}

function describeMaker({ kind, name, certainty, evidence }: ScannedTable): string {
  if (kind === 'known queue') return name
  if (kind === 'profile') return `the table of profile ${name}`
  const guess = certainty === 'likely' ? 'looks hand-rolled' : 'may be hand-rolled, not sure'
  return `${guess} (${evidence.join(', ')})`
}

function agesOf({ counts }: ScannedTable): string {
  if (counts?.oldestStuckMs == null) return ''
  return `, silent for up to ${showDuration(counts.oldestStuckMs)}`
}

function describeRule({ rule, kind, timeColumns }: ScannedTable, olderThanMs: number): string {
  const age = `the newest of ${timeColumns.join(', ')} is older than ${showDuration(olderThanMs)}`
  if (rule === null) return age
  return kind === 'known queue' || timeColumns.length === 0 ? rule : `${rule}; without one, ${age}`
}

function describeSilent({ counts, rule }: ScannedTable, olderThanMs: number): string {
  const { silent, oldestSilentMs } = counts ?? { silent: 0, oldestSilentMs: null }
  const oldest = oldestSilentMs === null ? '' : `, up to ${showDuration(oldestSilentMs)}`
  const patience = rule === null ? '' : `; its rule gives them more time: ${rule}`
  return `${silent} silent for over ${showDuration(olderThanMs)}${oldest}${patience}`
}
