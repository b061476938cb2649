import type { Command } from 'commander'
import { listSchedules } from '../../commands/queue-control-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { valueOf, withCommands, withTableNames } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { type TableFlags, withTables } from '../connection/with-tables.ts'
import { printJson, printLine, printProgress, printTable } from '../terminal/output.ts'

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules').description('lists recurring jobs, and ends them')
  withConnection(schedules.command('list'))
    .description('tells every schedule with its next and its last run')
    .addHelpText('after', example('unstuck schedules list'))
    .action(listSchedulesCommand)
  withConnection(schedules.command('delete'))
    .description('ends a schedule; jobs that it has enqueued stay')
    .argument('<name>', 'as list shows it')
    .option('--table <name>', 'which table of the profile; all of them where absent')
    .addHelpText('after', example('unstuck schedules delete nightly-report'))
    .action(deleteScheduleCommand)
}

async function listSchedulesCommand(flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const schedules = withTableNames(valueOf(await listSchedules(context, {})))
    if (flags.json === true) return printJson({ schedules })
    if (schedules.length === 0) return printLine('no job recurs')
    const rows = schedules.map(
      ({ table, name, cron, timezone, job, nextRunAt, lastRunAt, lastSkippedAt }) => [
        table,
        name,
        cron,
        timezone,
        job.type,
        showTime(nextRunAt, 'none left'),
        showTime(lastRunAt, 'never'),
        showTime(lastSkippedAt, 'never'),
      ],
    )
    const head = ['TABLE', 'NAME', 'CRON', 'TIMEZONE', 'TYPE', 'NEXT RUN', 'LAST RUN', 'LAST SKIPPED']
    printTable([head, ...rows])
  })
}

const showTime = (time: Date | null, otherwise: string) =>
  time === null ? otherwise : time.toISOString().replace(/\.\d+Z$/, 'Z')

/** Exit code 1 where there is no such schedule. */
async function deleteScheduleCommand(name: string, flags: TableFlags): Promise<void> {
  await withTables(flags, async (tables) => {
    const deleted: string[] = []
    for (const { name: table, store } of tables) if (await store.deleteSchedule(name)) deleted.push(table)
    if (deleted.length === 0) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ name, deletedFrom: deleted })
    if (deleted.length === 0)
      return printProgress(`there is no schedule ${JSON.stringify(name)}: unstuck schedules list`)
    for (const table of deleted) printLine(`${table}: schedule ${JSON.stringify(name)} is deleted`)
  })
}
