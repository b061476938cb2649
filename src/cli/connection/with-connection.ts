import type { Command } from 'commander'

/** Adds the flags of every command with a connection. */
export function withConnection(command: Command, json = 'print one JSON object'): Command {
  return command
    .option('--database-url <url>', 'database address (UNSTUCK_DATABASE_URL, DATABASE_URL or PG*)')
    .option('--store <url>', 'jobs in Neo4j: neo4j://user:password@host:7687/database')
    .option(
      '--shards <urls>',
      'several databases, separated by spaces, each with #schema if needed; or a number of schemas (UNSTUCK_SHARDS)',
    )
    .option('--shard <number>', 'one of the shards')
    .option('--schema <name>', 'schema of the engine (UNSTUCK_SCHEMA; default: unstuck)')
    .option(
      '--profile <name>',
      'a shipped profile, or the one in the config file (UNSTUCK_PROFILE; default: native)',
    )
    .option('--config <file>', 'config file (UNSTUCK_CONFIG; default: unstuck.config.ts)')
    .option('--json', json)
}

export const example = (command: string) => `\nExample:\n  $ ${command}\n`
