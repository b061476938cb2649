// Databases with an install. Each is made once for the run and copied: a copy takes 0.1 s of processor time, a native install
// 0.6 s, one of the clip tables 1.2 s.
import { inject } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { Profile } from '../../src/profile/profile.ts'
import { featureNames } from '../../src/profile/profile.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { asAdmin } from './as-admin.ts'
import { clipTables } from './tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'

interface Template {
  name: string
  /** The application's own tables. */
  sql: string
  profile: Profile
}

export const createInstalledDatabase = (): Promise<TestDatabase> =>
  copy({ name: inject('installedTemplate'), sql: '', profile: nativeProfile('unstuck') })

/** The tables of the clip pipeline, empty and attached. */
export const createAttachedDatabase = (): Promise<TestDatabase> =>
  copy({ name: `${inject('installedTemplate')}_clip`, sql: clipTables, profile: clipProfile })

/** For a test that does not look at the install itself, among others that do. */
export async function exchange(empty: TestDatabase, copied: Promise<TestDatabase>): Promise<TestDatabase> {
  await empty.drop()
  return copied
}

const made = new Map<string, Promise<void>>()

async function copy(template: Template): Promise<TestDatabase> {
  const serverUrl = inject('databaseUrl')
  const making = made.get(template.name) ?? make(serverUrl, template)
  made.set(template.name, making)
  await making
  return createTestDatabase(serverUrl, template.name)
}

/** By whichever process of the run comes first. It has its name only when it is whole. */
async function make(serverUrl: string, { name, sql, profile }: Template): Promise<void> {
  await asAdmin(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rows } = await client.query('select from pg_database where datname = $1', [name])
    if (rows.length > 0) return
    const draft = `${name}_draft`
    await client.query(`drop database if exists ${draft}`)
    await client.query(`create database ${draft}`)
    const url = new URL(serverUrl)
    url.pathname = `/${draft}`
    await asAdmin(url.href, (application) => application.query(sql))
    await migrateUp({ databaseUrl: url.href, schema: 'unstuck', profile, features: featureNames })
    await client.query(`alter database ${draft} rename to ${name}`)
  })
}
