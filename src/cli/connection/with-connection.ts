import type { Command } from 'commander'

/** The flags that every command with a connection has. `json`: what --json prints. */
export function withConnection(command: Command, json = 'print one JSON object'): Command {
  return command
    .option('--database-url <url>', 'over UNSTUCK_DATABASE_URL, DATABASE_URL and PG*')
    .option('--store <url>', 'jobs in Neo4j: neo4j://user:password@host:7687/database')
    .option('--schema <name>', 'where the engine lives (UNSTUCK_SCHEMA; unstuck)')
    .option('--profile <name>', 'a shipped one, or that of the config file (UNSTUCK_PROFILE; native)')
    .option('--config <file>', 'the config file (UNSTUCK_CONFIG; unstuck.config.ts)')
    .option('--json', json)
}

export const example = (command: string) => `\nExample:\n  $ ${command}\n`
