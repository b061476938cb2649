// Tables that hold the parts of a payload in columns: handlers and the source check see those that the profile names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { unstuck } from '../../../dist/index.js'
import { completeTable } from '../../../src/profile/own-profile.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import {
  createPostgresStore,
  migrateDown,
  migrateStatus,
  migrateUp,
} from '../../../src/store/postgres/index.ts'
import { runCommand } from '../../cli/support/run-command.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'

let database: TestDatabase
const folder = mkdtempSync(join(tmpdir(), 'unstuck-payload-'))

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  if (await schemaExists(database.pool)) await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  await database.pool.query('drop schema public cascade; create schema public')
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

/** `owner_token` is a secret of the team's. */
const documents = `create table documents (
    id uuid primary key default gen_random_uuid(), status text not null default 'queued', pdf_path text,
    "pageCount" integer, size bigint, tags text[], uploaded_at timestamptz, owner_token text, error text,
    created_at timestamptz not null default now());
  insert into documents (pdf_path, "pageCount", size, tags, uploaded_at, owner_token)
    values ('a.pdf', 3, 9007199254740993, '{x,y}', '2026-01-02 03:04:05+00', 'secret');`

const statuses = { waiting: 'queued', running: ['processing'] as [string], succeeded: 'done', dead: 'failed' }
const payload = {
  source: 'pdf_path',
  "it's": 'pageCount',
  size: 'size',
  tags: 'tags',
  uploadedAt: 'uploaded_at',
}
const own = { table: 'documents', idType: 'uuid', defaultType: 'convert', statuses } as const
const profileOf = (columns: Record<string, string>): Profile => ({
  name: 'documents',
  tables: [completeTable({ ...own, payload: columns })],
})
const options = (profile: Profile) => ({ databaseUrl: database.url, schema: 'unstuck', profile })

const asPayload = {
  source: 'a.pdf',
  "it's": 3,
  // JavaScript would round it.
  size: '9007199254740993',
  tags: ['x', 'y'],
  uploadedAt: expect.stringMatching(/^2026-01-0\dT\d\d:\d4:05/),
}

it('OPS-13 a claim, a record and a list show the columns that the profile names as the payload, and no other', async () => {
  await database.pool.query(documents)
  const before = await describeSchema(database.pool, 'public')
  const profile = profileOf(payload)
  await migrateUp(options(profile))
  const store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  const [listed] = (await store.listJobs({}, { withPayload: true })).jobs
  expect(listed?.payload).toEqual(asPayload)
  const [{ rows }, claimed] = [
    await database.pool.query<{ payload: unknown }>(
      `select payload from unstuck.claim_jobs__documents('sql', array['convert'], 1)`,
    ),
    await store.getJob(listed?.id ?? ''),
  ]
  expect(rows).toEqual([{ payload: asPayload }])
  expect(claimed?.payload).toEqual(asPayload)
  expect(await migrateStatus(options(profile))).toMatchObject({ isCurrent: true })
  expect(await migrateStatus(options(profileOf({ source: 'pdf_path' })))).toMatchObject({ isCurrent: false })
  await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
})

it('OPS-13 an enqueued payload is kept over the columns', async () => {
  await database.pool.query(documents)
  const profile = profileOf({ source: 'pdf_path', size: 'size' })
  await migrateUp({ ...options(profile), features: ['payload'] })
  const store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  await database.pool.query('delete from documents')
  await store.enqueueJobs([{ type: 'convert', payload: { source: 'b.pdf' } }])
  await store.enqueueJobs([{ type: 'convert', payload: ['c.pdf'] }])
  await store.enqueueJobs([{ type: 'convert', payload: null }])
  const claimed = await store.claimJobs({ workerId: 'w', queues: ['convert'], limit: 3 })
  expect(claimed.map((job) => job.payload)).toEqual([
    { source: 'b.pdf', size: null },
    ['c.pdf'],
    { source: null, size: null },
  ])
})

it('OPS-13 OPS-1 a handler gets the columns, and a retry looks for the source that a column names', async () => {
  await database.pool.query(documents)
  writeFileSync(join(folder, 'there.pdf'), '%PDF')
  const config = join(folder, 'unstuck.config.mjs')
  const table = { ...own, columns: { error_reason: 'error' }, payload: { source: 'pdf_path' } }
  const profile = { name: 'documents', extends: 'converter', tables: [table] }
  writeFileSync(config, `export default ${JSON.stringify({ profile })}`)
  const run = (...args: string[]) =>
    runCommand(args, { DATABASE_URL: database.url, UPLOADS_DIR: folder }, folder)
  expect(await run('migrate', 'up')).toMatchObject({ exitCode: 0 })
  const app = unstuck({ databaseUrl: database.url, config })
  const seen: unknown[] = []
  app.handle('convert', async (job) => {
    seen.push(job.payload)
  })
  await app.start()
  await expect.poll(() => seen).toEqual([{ source: 'a.pdf' }])
  await app.stop()
  await database.pool.query(
    `insert into documents (status, pdf_path) values ('failed', 'there.pdf'), ('failed', 'gone.pdf')`,
  )
  const retried = await run('jobs', 'retry', '--where', 'status:dead', '--reason', 'asked', '--yes')
  expect(retried.stdout).toMatch(/1 .*retried/)
  const statusOf = () => database.pool.query('select pdf_path, status from documents order by pdf_path')
  expect((await statusOf()).rows).toEqual([
    { pdf_path: 'a.pdf', status: 'done' },
    { pdf_path: 'gone.pdf', status: 'failed' },
    { pdf_path: 'there.pdf', status: 'queued' },
  ])
  const { rows } = await database.pool.query(`select id from documents where status = 'failed'`)
  const refused = await run('jobs', 'retry', String(rows[0]?.id), '--reason', 'asked')
  expect(refused).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('source no longer exists') })
})

it('OPS-13 a payload that names no column of the table is refused', async () => {
  await database.pool.query(documents)
  const before = await describeSchema(database.pool, 'public')
  await expect(migrateUp(options(profileOf({ source: 'path' })))).rejects.toMatchObject({
    code: 'TABLE_UNSUPPORTED',
    message: expect.stringContaining('it has no column path'),
    hint: 'Correct payload.source in the profile.',
  })
  await expect(migrateUp(options(profileOf({ $$: 'pdf_path' })))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
})
