// A database that comes back from a backup: its leases are long over, but whoever has them may still run.
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { HOUR, MINUTE, plainPolicy, startMany } from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { asAdmin } from '../../support/as-admin.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { elapse } from '../../support/postgres-harness.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const [table] = nativeProfile('unstuck').tables
let original: TestDatabase
let opened: TestDatabase[]

beforeEach(async () => {
  original = await createInstalledDatabase()
  opened = [original]
})
afterEach(() => Promise.all(opened.map((database) => database.drop())))

const storeOf = ({ pool }: TestDatabase) => createPostgresStore({ client: pool, table })
const sweepBy = (store: JobStore, reaperId: string) => store.sweepJobs({ reaper: { reaperId } })

/** Two jobs that run, and a sweep that saw them. */
async function startTwo(): Promise<Lease[]> {
  const store = storeOf(original)
  await store.writePolicy(plainPolicy)
  const leases = await startMany(store, 2)
  expect(await sweepBy(store, 'before')).toMatchObject({ reaped: [], holdReason: null })
  return leases
}

/** The files of the database, on the same server: the name is another, and everything in it as it was. */
async function copyDatabase(): Promise<TestDatabase> {
  const name = new URL(original.url).pathname.slice(1)
  const serverUrl = inject('databaseUrl')
  await asAdmin(serverUrl, (client) =>
    client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]),
  )
  const copy = await createTestDatabase(serverUrl, name)
  opened.push(copy)
  return copy
}

/** A dump that is read back: tables are made anew, with the same rows. */
async function recreateTable(): Promise<TestDatabase> {
  await original.pool.query(
    `create table unstuck.restored (like unstuck.sweeps including all);
     insert into unstuck.restored select * from unstuck.sweeps;
     drop table unstuck.sweeps cascade;
     alter table unstuck.restored rename to sweeps`,
  )
  return original
}

it.each([
  ['of its files', copyDatabase],
  ['of a dump', recreateTable],
])('REAP-3 C9 after a restore %s the leases are held for one lease', async (_, restore) => {
  const [renewed, silent] = await startTwo()
  if (renewed === undefined || silent === undefined) throw new Error('there are no jobs')
  const database = await restore()
  await elapse(database.pool, table, 'unstuck', 2 * HOUR)
  const store = storeOf(database)

  expect(await sweepBy(store, 'after')).toMatchObject({ reaped: [], held: 2, holdReason: 'server-restarted' })
  const { answers } = await store.heartbeatJobs([renewed])
  expect(answers).toMatchObject([{ answer: 'kept' }])
  await elapse(database.pool, table, 'unstuck', MINUTE + 1_000)
  const { answers: again } = await store.heartbeatJobs([renewed])
  expect(again).toMatchObject([{ answer: 'kept' }])
  expect((await sweepBy(store, 'after')).reaped).toMatchObject([{ jobId: silent.jobId }])
})

it('REAP-1 without a restore a reaper that was away holds nothing back', async () => {
  await startTwo()
  await elapse(original.pool, table, 'unstuck', 2 * HOUR)
  expect((await sweepBy(storeOf(original), 'after')).reaped).toHaveLength(2)
})
