// Debian's PostgreSQL 15 with its pg_cron, in a folder that goes away.
import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    cronUrl: string
  }
}

let server: PostgresServer | undefined

export async function setup({ provide }: TestProject): Promise<void> {
  server = await startPostgres({
    persistent: false,
    binaries: process.env['UNSTUCK_TEST_BINARIES'],
    settings: {
      fsync: 'off',
      shared_preload_libraries: 'pg_cron',
      'cron.database_name': 'postgres',
      // Over a connection it would have to know the password.
      'cron.use_background_workers': 'on',
    },
  })
  provide('cronUrl', server.url)
}

export async function teardown(): Promise<void> {
  await server?.stop()
}
