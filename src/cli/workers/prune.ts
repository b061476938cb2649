import type { Command } from 'commander'
import { type DeploymentTable, openDeployment } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { runPrune } from '../../runtime/services/run-prune.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { eachActingTable } from '../connection/each-acting-table.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'

export function definePrune(command: Command): void {
  withConnection(command).addHelpText('after', example('unstuck prune')).action(pruneCommand)
}

/** Deletes finished jobs past the retention, for cron. Progress on a terminal only. */
async function pruneCommand(flags: ConnectionFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const deployment = openDeployment(config)
  try {
    await eachActingTable(
      deployment.parts,
      (table) => prune(table, config),
      (tables) => {
        if (flags.json === true) return printJson({ tables })
        for (const { table, deleted, retentionDays } of tables)
          printLine(`${table}: deleted ${deleted} jobs that finished more than ${retentionDays} days ago`)
      },
    )
  } finally {
    await deployment.close()
  }
}

async function prune({ name, store }: DeploymentTable, { policy }: Config) {
  const retentionDays = policy.retentionDays ?? (await store.readPolicy()).retentionDays
  let steps = 0
  const onStep = (deleted: number) => {
    if (process.stderr.isTTY && ++steps % 100 === 0) printProgress(`  ${name}: ${deleted} deleted so far`)
  }
  return { table: name, deleted: await runPrune(store, { retentionDays, onStep }), retentionDays }
}
