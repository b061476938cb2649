import { type Command, Option } from 'commander'
import { listDeadLetters } from '../../commands/jobs/dead-letter-commands.ts'
import type { DeadJobGroup, JobSummary } from '../../store/job-store.ts'
import { actorName } from '../connection/actor-name.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { fillPage } from '../jobs/each-job.ts'
import { readCount, readRate, withReason, withTable } from '../jobs/job-flags.ts'
import { printJobs } from '../jobs/jobs.ts'
import { type BulkFlags, type BulkRequest, runBulk } from '../jobs/run-bulk.ts'
import { showTime } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { causeStates, markCommand } from './dead-mark.ts'
import { redriveCommand } from './dead-redrive.ts'
import { filterOfCause, findGroups } from './find-groups.ts'

const SHOWN_GROUPS = 100

type TableGroup = { table: string } & DeadJobGroup

export function addDead(program: Command): void {
  const dead = program
    .command('dead')
    .description('looks after dead letters: jobs that ended without success')
  withTable(withConnection(dead.command('list')))
    .description('shows them by cause, the largest group first')
    .addHelpText('after', example('unstuck dead list'))
    .action(listCommand)
  withTable(withConnection(dead.command('show')))
    .description('lists the jobs of one cause')
    .argument('<cause>', 'as dead list shows it')
    .option('--limit <jobs>', 'at most, of each table (1 to 1000)', readCount, 20)
    .addHelpText('after', example('unstuck dead show e1c9a004'))
    .action(showCommand)
  addRedrive(dead)
  addMark(dead)
  withReason(withConnection(dead.command('discard')))
    .description('deletes the jobs of one cause for good')
    .argument('<cause>', 'as dead list shows it')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('unstuck dead discard e1c9a004 --reason "test data" --yes'))
    .action(discardCommand)
}

function addMark(dead: Command): void {
  withTable(withConnection(dead.command('mark')))
    .description('says what you think of a cause; one that is resolved shows when it is back')
    .argument('<cause>', 'as dead list shows it')
    .addOption(new Option('--as <state>', 'what it is').choices(causeStates).makeOptionMandatory())
    .option('--reason <text>', 'why, kept with the cause')
    .option('--actor <name>', 'who; the user of this machine where absent', actorName())
    .addHelpText('after', example('unstuck dead mark e1c9a004 --as resolved --reason "gateway fixed"'))
    .action(markCommand)
}

function addRedrive(dead: Command): void {
  withReason(withConnection(dead.command('redrive')))
    .description('brings the jobs of one cause back, and stops by itself where they fail again')
    .argument('[cause]', 'as dead list shows it')
    .option('--all', 'of every cause')
    .option('--canary <jobs>', 'so many first; the rest only if they succeed', readCount, 0)
    .option('--rate <jobs/s>', 'how fast', readRate, 10)
    .option('--limit <jobs>', 'at most, the oldest first', readCount)
    .option('--expect <jobs>', 'do nothing where another number of jobs matches', readCount)
    .option('--dry-run', 'tell how many, and change nothing')
    .option('--keep-attempts', 'keep the counts and raise the maximum instead')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      example('unstuck dead redrive e1c9a004 --canary 1 --rate 10/s --reason "gateway fixed"'),
    )
    .action(redriveCommand)
}

async function listCommand(flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const found = valueOf(await listDeadLetters(context, { limit: SHOWN_GROUPS }))
    const groups = found.groups.map(({ table, group }): TableGroup => ({ table, ...group }))
    const { isComplete } = found
    if (flags.json === true) return printJson({ groups, isComplete })
    if (groups.length === 0) return printLine('no job is dead')
    const rows = groups.map((group) => [
      group.table,
      group.causeId,
      group.code ?? '–',
      group.category ?? '–',
      String(group.jobs),
      stateOf(group),
      showTime(group.firstAt),
      showTime(group.lastAt),
      exampleOf(group),
    ])
    printTable([['TABLE', 'CAUSE', 'CODE', 'CATEGORY', 'JOBS', 'STATE', 'FIRST', 'LAST', 'EXAMPLE'], ...rows])
    if (!isComplete) printLine('Only the newest 10000 of each table were looked at.')
    printLine('Next:  unstuck dead show <cause>   unstuck dead redrive <cause> --canary 1 --reason …')
  })
}

function stateOf({ state, backSince }: DeadJobGroup): string {
  return backSince === null ? state : `${state}, back since ${showTime(backSince)}`
}

function exampleOf({ exampleReason, maxCrashes }: DeadJobGroup): string {
  const reason = (exampleReason ?? '–').replaceAll(/\s+/g, ' ')
  const short = reason.length > 60 ? `${reason.slice(0, 59)}…` : reason
  return maxCrashes > 1 ? `${short} — killed its worker ${maxCrashes} times (possible poison job)` : short
}

async function showCommand(cause: string, flags: TableFlags & { limit: number }): Promise<void> {
  await withCommands(flags, async (context) => {
    const groups = await findGroups(context, cause)
    const shown: { table: string; job: JobSummary }[] = []
    for (const { table, group } of groups) {
      const { filter } = filterOfCause(group.causeId)
      const { jobs } = await fillPage(context, { table, filter, limit: flags.limit })
      shown.push(...jobs.map((job) => ({ table, job })))
    }
    if (flags.json === true) {
      return printJson({
        groups: groups.map(({ table, group }) => ({ table, ...group })),
        jobs: shown.map(({ table, job }) => ({ table, ...job })),
      })
    }
    for (const { table, group } of groups) {
      const { causeId, code, category, jobs } = group
      printLine(`${causeId}  ${code ?? '–'}  ${category ?? '–'}  ${jobs} in ${table}`)
      printLine(`  ${exampleOf(group)}`)
    }
    printLine()
    printJobs(shown)
  })
}

async function discardCommand(cause: string, flags: BulkFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { reason } = flags
    const groups = await findGroups(context, cause)
    const requests = groups.map(({ table, group }): BulkRequest => {
      return { action: 'discard', table, reason, ...filterOfCause(group.causeId) }
    })
    await runBulk(context, requests, flags, {
      planOf: (count) => `${count} dead jobs are deleted for good.`,
      done: 'deleted',
      refused: 'were not dead any more',
      none: 'no dead job to delete',
    })
  })
}
