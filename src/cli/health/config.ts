import type { Command } from 'commander'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { printJson, printTable } from '../terminal/output.ts'

export function defineConfig(command: Command): void {
  withConnection(command).addHelpText('after', example('unstuck config --json')).action(configCommand)
}

function configCommand(flags: ConnectionFlags): void {
  const { values, warnings } = loadCommandConfig(flags)
  if (flags.json === true) return printJson({ values, warnings })
  const rows = values.map(({ name, value, source }) => [name, value === null ? '–' : String(value), source])
  printTable([['SETTING', 'VALUE', 'SOURCE'], ...rows])
}
