import type { Command } from 'commander'
import { given } from '../../commands/given.ts'
import { listSchedules } from '../../commands/queue-control-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { databaseNow, valueOf, withCommands, withTableNames } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { type TableFlags, withTables } from '../connection/with-tables.ts'
import { actorOption } from '../jobs/job-flags.ts'
import { showAgo } from '../terminal/duration.ts'
import { printJson, printLine, printProgress, printTable } from '../terminal/output.ts'

export function defineSchedules(schedules: Command): void {
  withConnection(schedules.command('list'))
    .description('lists schedules with their next and last run')
    .addHelpText('after', example('unstuck schedules list'))
    .action(listSchedulesCommand)
  withConnection(schedules.command('delete'))
    .description('deletes a schedule; its enqueued jobs stay')
    .argument('<name>', 'schedule name')
    .option('--table <name>', 'one table of the profile; default: all')
    .option('--reason <text>', 'reason, recorded in the audit log')
    .addOption(actorOption())
    .addHelpText('after', example('unstuck schedules delete nightly-report'))
    .action(deleteScheduleCommand)
}

async function listSchedulesCommand(flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const schedules = withTableNames(valueOf(await listSchedules(context, {})))
    if (flags.json === true) return printJson({ schedules })
    if (schedules.length === 0) return printLine('no schedules')
    // A pipe gets exact times, a terminal relative ones.
    const now = process.stdout.isTTY ? await databaseNow(context) : null
    const rows = schedules.map(
      ({ table, name, cron, timezone, job, nextRunAt, lastRunAt, lastSkippedAt }) => [
        table,
        name,
        cron,
        timezone,
        job.type,
        showRun(nextRunAt, now, 'none left'),
        showRun(lastRunAt, now, 'never'),
        showRun(lastSkippedAt, now, 'never'),
      ],
    )
    const head = ['TABLE', 'NAME', 'CRON', 'TIMEZONE', 'TYPE', 'NEXT RUN', 'LAST RUN', 'LAST SKIPPED']
    printTable([head, ...rows])
  })
}

function showRun(time: Date | null, now: Date | null, otherwise: string): string {
  if (time === null) return otherwise
  return now === null ? time.toISOString().replace(/\.\d+Z$/, 'Z') : showAgo(time, now)
}

/** Exit code 1 if the schedule does not exist. */
async function deleteScheduleCommand(
  name: string,
  { actor, reason, ...flags }: TableFlags & { actor: string; reason?: string },
): Promise<void> {
  await withTables(flags, async (tables) => {
    const deleted: string[] = []
    for (const { name: table, store } of tables)
      if (await store.deleteSchedule(name, given({ actor, reason }))) deleted.push(table)
    if (deleted.length === 0) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ name, deletedFrom: deleted })
    if (deleted.length === 0)
      return printProgress(`no schedule is called ${JSON.stringify(name)}: unstuck schedules list`)
    for (const table of deleted) printLine(`${table}: schedule ${JSON.stringify(name)} is deleted`)
  })
}
