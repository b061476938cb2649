// A database with the native install. It is made once for the run and copied: a copy takes 0.1 s of processor time, an
// install 0.7 s.
import { inject } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { asAdmin } from './as-admin.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'

let installed: Promise<void> | undefined

export async function createInstalledDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('databaseUrl')
  const template = inject('installedTemplate')
  installed ??= install(serverUrl, template)
  await installed
  return createTestDatabase(serverUrl, template)
}

/** By whichever process of the run comes first. It has its name only when it is whole. */
async function install(serverUrl: string, template: string): Promise<void> {
  await asAdmin(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [template])
    const { rows } = await client.query('select from pg_database where datname = $1', [template])
    if (rows.length > 0) return
    const draft = `${template}_draft`
    await client.query(`drop database if exists ${draft}`)
    await client.query(`create database ${draft}`)
    const url = new URL(serverUrl)
    url.pathname = `/${draft}`
    await migrateUp({ databaseUrl: url.href, schema: 'unstuck', profile: nativeProfile('unstuck') })
    await client.query(`alter database ${draft} rename to ${template}`)
  })
}
