import { type Command, Option } from 'commander'
import { listDeadLetters } from '../../commands/jobs/dead-letter-commands.ts'
import type { DeadJobGroup, JobSummary } from '../../store/job-store.ts'
import { databaseNow, valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { fillPage } from '../jobs/each-job.ts'
import { actorOption, readCount, readRate, withReason, withTable } from '../jobs/job-flags.ts'
import { printJobs } from '../jobs/jobs.ts'
import { type BulkFlags, type BulkRequest, runBulk } from '../jobs/run-bulk.ts'
import { withoutLease } from '../jobs/without-lease.ts'
import { showAgo } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { causeStates, markCommand } from './dead-mark.ts'
import { redriveCommand } from './dead-redrive.ts'
import { filterOfCause, findGroups } from './find-groups.ts'

const SHOWN_GROUPS = 100

type TableGroup = { table: string } & DeadJobGroup

export function defineDead(dead: Command): void {
  withTable(withConnection(dead.command('list')))
    .description('lists dead letters by cause, largest group first')
    .addHelpText('after', example('unstuck dead list'))
    .action(listCommand)
  withTable(withConnection(dead.command('show')))
    .description('lists the jobs of one cause')
    .argument('<cause>', 'cause id from dead list')
    .option('--limit <jobs>', 'maximum per table, 1 to 1000', readCount, 20)
    .addHelpText('after', example('unstuck dead show e1c9a004'))
    .action(showCommand)
  addRedrive(dead)
  addMark(dead)
  withReason(withConnection(dead.command('discard')))
    .description('permanently deletes the jobs of one cause')
    .argument('<cause>', 'cause id from dead list')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('unstuck dead discard e1c9a004 --reason "test data" --yes'))
    .action(discardCommand)
}

function addMark(dead: Command): void {
  withTable(withConnection(dead.command('mark')))
    .description('sets the state of a cause; a resolved one is flagged if it comes back')
    .argument('<cause>', 'cause id from dead list')
    .addOption(new Option('--as <state>', 'new state').choices(causeStates).makeOptionMandatory())
    .option('--reason <text>', 'reason, stored with the cause')
    .addOption(actorOption())
    .addHelpText('after', example('unstuck dead mark e1c9a004 --as resolved --reason "gateway fixed"'))
    .action(markCommand)
}

function addRedrive(dead: Command): void {
  withReason(withConnection(dead.command('redrive')))
    .description('retries the jobs of one cause, and stops if they fail again')
    .argument('[cause]', 'cause id from dead list')
    .option('--all', 'every cause')
    .option('--canary <jobs>', 'retry this many first; the rest only if they succeed', readCount, 0)
    .option('--rate <jobs/s>', 'rate', readRate, 10)
    .option('--limit <jobs>', 'maximum, oldest first', readCount)
    .option('--expect <jobs>', 'refuse if another number of jobs matches', readCount)
    .option('--dry-run', 'count the jobs and change nothing')
    .option('--keep-attempts', 'keep the attempt count and raise the maximum instead')
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
    if (groups.length === 0) return printLine('no dead jobs')
    const now = await databaseNow(context)
    const rows = groups.map((group) => [
      group.table,
      group.causeId,
      group.code ?? '–',
      group.category ?? '–',
      String(group.jobs),
      stateOf(group, now),
      showAgo(group.firstAt, now),
      showAgo(group.lastAt, now),
      exampleOf(group),
    ])
    const titles = ['TABLE', 'CAUSE', 'CODE', 'CATEGORY', 'JOBS', 'STATE', 'FIRST', 'LAST', 'EXAMPLE']
    printTable([titles, ...rows], { whole: ['CAUSE', 'JOBS'], spare: ['CATEGORY', 'TABLE', 'FIRST'] })
    if (!isComplete)
      printLine(
        `There may be more: the ${SHOWN_GROUPS} largest causes of the newest 10,000 dead jobs are listed.`,
      )
    printLine('Next:  unstuck dead show <cause>')
    printLine('       unstuck dead redrive <cause> --canary 1 --reason …')
  })
}

function stateOf({ state, backSince }: DeadJobGroup, now: Date): string {
  return backSince === null ? state : `${state}, back ${showAgo(backSince, now)}`
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
        jobs: shown.map(({ table, job }) => ({ table, ...withoutLease(job) })),
      })
    }
    for (const { table, group } of groups) {
      const { causeId, code, category, jobs } = group
      printLine(`${causeId}  ${code ?? '–'}  ${category ?? '–'}  ${jobs} in ${table}`)
      printLine(`  ${exampleOf(group)}`)
    }
    printLine()
    printJobs(shown, await databaseNow(context))
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
      planOf: (count) => `This permanently deletes ${count} dead jobs.`,
      done: 'deleted',
      refused: 'were no longer dead',
      none: 'no dead job to delete',
    })
  })
}
