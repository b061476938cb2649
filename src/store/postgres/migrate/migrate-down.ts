// Takes everything out again, in reverse order. The application's rows and columns stay; so do native jobs, unless purged.
import { nativeProfile } from '../../../profile/native.ts'
import { assertPlainName } from '../identifiers.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql } from '../sql-files.ts'
import { holdMigrationLock, withMigrationSession } from './migration-session.ts'

export interface MigrateDownOptions {
  databaseUrl: string
  schema: string
  /** Drop native jobs and their events too. */
  isPurge?: boolean
  lockTimeoutMs?: number
  onStep?: (step: string) => void
}

/** Answers false where there was nothing to take out. */
export async function migrateDown(options: MigrateDownOptions): Promise<boolean> {
  const { databaseUrl, schema, isPurge = false, lockTimeoutMs = 2_000, onStep } = options
  assertPlainName('schema', schema)
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0], isPurge }
  return withMigrationSession({ databaseUrl, lockTimeoutMs }, async (session) => {
    const [facts] = await session.query('server_facts', base)
    if (facts?.['has_attachments'] !== true) return false
    await holdMigrationLock(session, base, 60_000)
    await session.transaction(async () => {
      for (const attachment of (await session.query('list_attachments', base)).reverse()) {
        onStep?.(`detach ${String(attachment['table_schema'])}.${String(attachment['table_name'])}`)
        await session.query('detach_table', base, [attachment['name']])
      }
      onStep?.('remove the engine')
      await session.run(render(readSql('attach', 'remove_engine'), base))
    })
    return true
  })
}
