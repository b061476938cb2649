// One real PostgreSQL for the run: DATABASE_URL where it is set, else the embedded one in a folder that goes away.
import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { asAdmin } from '../as-admin.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
    /** How the databases begin that `installed-database.ts` makes and copies. */
    installedTemplate: string
  }
}

let server: PostgresServer | undefined
let dropTemplate = async () => {}

export async function setup({ provide }: TestProject): Promise<void> {
  const template = `unstuck_test_${randomBytes(6).toString('hex')}`
  provide('installedTemplate', template)
  const given = process.env['DATABASE_URL']
  if (given !== undefined && given !== '') {
    provide('databaseUrl', given)
    dropTemplate = () =>
      asAdmin(given, async (client) => {
        for (const name of [template, `${template}_clip`])
          for (const database of [name, `${name}_draft`])
            await client.query(`drop database if exists ${database} with (force)`)
      })
    return
  }
  server = await startPostgres({
    persistent: false,
    // The tests are about the engine, not the disk: crash tests start their own servers.
    settings: { fsync: 'off', max_connections: '200' },
    binaries: process.env['UNSTUCK_TEST_BINARIES'],
  })
  provide('databaseUrl', server.url)
}

export async function teardown(): Promise<void> {
  await dropTemplate()
  await server?.stop()
}
