// One real PostgreSQL for the run: DATABASE_URL where it is set, else the embedded one in a folder that goes away.
import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from '../../embedded/src/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

let server: PostgresServer | undefined

export async function setup({ provide }: TestProject): Promise<void> {
  const given = process.env['DATABASE_URL']
  if (given !== undefined && given !== '') {
    provide('databaseUrl', given)
    return
  }
  server = await startPostgres({
    persistent: false,
    // What is tested is the engine, not the disk: crash tests start servers of their own.
    settings: { fsync: 'off', max_connections: '200' },
    binaries: process.env['UNSTUCK_TEST_BINARIES'],
  })
  provide('databaseUrl', server.url)
}

export async function teardown(): Promise<void> {
  await server?.stop()
}
