import type { Command } from 'commander'
import { exitCodes } from '../../errors/index.ts'
import { withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { withTable } from '../jobs/job-flags.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { publicSnapshot, readSnapshot } from './read-snapshot.ts'
import { runTop } from './run-top.ts'
import { plainFrame } from './top-frame.ts'
import { topRows } from './top-rows.ts'
import { firstView } from './top-view.ts'

interface TopFlags extends TableFlags {
  once?: boolean
}

export function defineTop(command: Command): void {
  withTable(withConnection(command))
    .option('--once', 'print once and exit')
    .addHelpText('after', example('unstuck top --once'))
    .action(topCommand)
}

async function topCommand(flags: TopFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const snapshot = await readSnapshot(context)
    if (flags.json === true) return printJson(publicSnapshot(snapshot))
    const isLive = process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb'
    if (flags.once !== true && isLive) {
      const signal = await runTop(context, snapshot)
      if (signal !== null) process.exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.fine
      return
    }
    const width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY
    for (const line of plainFrame(snapshot, topRows(snapshot, ''), firstView)) printLine(line, width)
  })
}
