import { type Command, Option } from 'commander'
import { type ScannedTable, type ScanReport, scan } from '../../compose/index.ts'
import { exitCodes } from '../../errors/index.ts'
import { showDuration } from '../../policy/explain/show-duration.ts'
import { describeUnknownWords } from '../../profile/infer/status-roles.ts'
import { type ConnectionFlags, loadCommandConfig, loadOneShard } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { readDuration } from '../terminal/duration.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'

interface ScanFlags extends ConnectionFlags {
  olderThan: number
}

const DEFAULT_OLDER_THAN_MS = 900_000

export function defineScan(command: Command): void {
  withConnection(command)
    .argument('[url]', 'the database; default: --database-url')
    .addOption(
      new Option(
        '--older-than <duration>',
        'without a lease, a job is stuck if silent for longer: 30s, 10m, 2h, 1d',
      )
        .argParser(readDuration)
        .default(DEFAULT_OLDER_THAN_MS, '15m'),
    )
    .addHelpText('after', example('unstuck scan postgres://readonly@localhost/app --older-than 30m'))
    .action(scanCommand)
}

/** Exit code 1 if a job is stuck. */
async function scanCommand(url: string | undefined, flags: ScanFlags): Promise<void> {
  const { olderThan: olderThanMs } = flags
  const config = url === undefined ? loadOneShard(flags) : loadCommandConfig({ ...flags, databaseUrl: url })
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
  const { database, version, role, isStandby, tables, notUnderstood } = report
  printLine(`${database}  PostgreSQL ${version}${isStandby ? ', a standby' : ''}, as ${role}`)
  printLine()
  const shown = tables.filter(isRelevant)
  for (const table of shown) printTable(table, olderThanMs)
  if (shown.length === 0) printLine('No job table is visible to this role.')
  printLine('Nothing was written: every transaction was read-only (transaction_read_only = on).')
  const next = shown.find(({ counts, next: command }) => (counts?.stuck ?? 0) > 0 && command !== null)
  if (next !== undefined) printLine(`Next:  ${next.next ?? ''}`)
  printLine(describeUnknown(notUnderstood))
  printLine(describeUnread(report))
}

const MOST_NAMED = 10

function describeUnknown(notUnderstood: ScanReport['notUnderstood']): string {
  if (notUnderstood.length === 0) return 'Not understood: no other table has signs of jobs.'
  const named = notUnderstood
    .slice(0, MOST_NAMED)
    .map(({ schema, table, reason }) => `${schema}.${table} (${reason})`)
  const more = notUnderstood.length > MOST_NAMED ? `, and ${notUnderstood.length - MOST_NAMED} more` : ''
  return `Not understood: ${named.join(', ')}${more}. If they hold jobs, describe them in a profile: docs/guides/tables/attach.md`
}

/** Always said, so that a scan is never taken for an all-clear. */
function describeUnread({ tables, isCut, otherTables }: ScanReport): string {
  const namesOf = (isOne: (table: ScannedTable) => boolean) => {
    const names = tables.filter(isOne).map(({ schema, table }) => `${schema}.${table}`)
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
    return names.length === 0 ? null : `${names.slice(0, MOST_NAMED).join(', ')}${more}`
  }
  const about = (what: string, names: string | null, why = '') =>
    names === null ? [] : [`${what} ${names}${why}`]
  const parts = [
    ...about(
      'any row of',
      namesOf(({ problem }) => problem !== null),
    ),
    ...about(
      'rows that row-level security hides in',
      namesOf(({ isFiltered }) => isFiltered),
    ),
    ...about(
      'running rows beyond the first 10,000 of',
      namesOf(({ counts }) => counts?.isCut === true),
    ),
    ...about(
      'rare status words in the middle of',
      namesOf(({ wordsRead }) => wordsRead === 'some'),
      ' (too large to read, no index on the status)',
    ),
    ...(isCut ? ['candidates beyond the first 2,000'] : []),
    ...(otherTables === 0
      ? []
      : [`${otherTables} ${otherTables === 1 ? 'table' : 'tables'} without signs of jobs`]),
    'other databases of this server',
  ]
  return `Not looked at: ${parts.join('; ')}.`
}

/** A weak match without running jobs is probably not a job table. */
const isRelevant = ({ certainty, counts, problem }: ScannedTable) =>
  certainty !== 'unsure' || problem !== null || (counts?.running ?? 0) > 0

function printTable(table: ScannedTable, olderThanMs: number): void {
  const { schema, table: name, counts, problem, isFiltered, unknownWords, remedy, next } = table
  printLine(`${schema}.${name}  ${describeMaker(table)}`)
  if (problem !== null) printLine(`  ! not counted: ${problem}`)
  if (isFiltered) printLine('  ! row-level security hides rows from this role: there may be more jobs')
  if (counts !== null) {
    const { running, isCut, stuck, silent, unjudged, stuckIds } = counts
    printLine(`  ${running}${isCut ? ' or more' : ''} running · ${stuck} stuck${agesOf(table)}`)
    if (stuck > 0) {
      printLine(`  ✗ ids: ${stuckIds.join(', ')}${stuck > stuckIds.length ? ', …' : ''}`)
      printLine(`    rule: ${describeRule(table, olderThanMs)}`)
      printLine(`    recovery: ${remedy}`)
      if (next !== null) printLine(`    ${next}`)
    }
    if (unknownWords.length > 0)
      printLine(`  ! ${describeUnknownWords(unknownWords)}: such rows may be running too`)
    if (silent > 0) printLine(`  ⚠ ${describeSilent(table, olderThanMs)}`)
    if (unjudged > 0) printLine(`  ⚠ ${unjudged} running of unknown age: no time column`)
  }
  printLine()
}

function describeMaker({ kind, name, certainty, nearly, evidence }: ScannedTable): string {
  if (kind === 'known queue') return name
  if (nearly !== null)
    return `nearly the table of profile ${nearly}: attach drafts a profile that extends it (${evidence.join(', ')})`
  if (kind === 'profile') return `the table of profile ${name}`
  const guess = certainty === 'likely' ? 'looks hand-rolled' : 'possibly hand-rolled'
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
  const patience = rule === null ? '' : `; within the limit of its queue: ${rule}`
  return `${silent} silent for over ${showDuration(olderThanMs)}${oldest}${patience}`
}
