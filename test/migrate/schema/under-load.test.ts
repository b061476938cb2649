// Upgrades while workers run: what a migration may do to tables in use, and calls that meet a function as it is replaced.
import { describe, expect, it, onTestFinished } from 'vitest'
import { unstuck } from '../../../dist/index.js'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { render } from '../../../src/store/postgres/render/render.ts'
import { readSql, readSqlFolder, type SqlFile } from '../../../src/store/postgres/sql-files.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { whenBlocked } from '../../support/lock-wait.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { withNextMigration } from '../next-migration.ts'

const profile = nativeProfile('unstuck')
const target = { schema: 'unstuck', profile }
let database: TestDatabase

/** Another number is another file. */
async function readFiles(): Promise<Map<string, string>> {
  const { rows } = await database.pool.query<{ name: string; file: string }>(
    `select relname::text as name, pg_relation_filenode(oid)::text as file from pg_class
      where relnamespace = 'unstuck'::regnamespace and relkind = 'r'`,
  )
  return new Map(rows.map(({ name, file }) => [name, file]))
}

/** Tables that a migration writes to new files, each as `migration table`. */
async function findRewritten(migrations: SqlFile[]): Promise<string[]> {
  const options = { schema: 'unstuck', table: profile.tables[0] }
  database = await createTestDatabase()
  onTestFinished(() => database.drop())
  await database.pool.query(render(readSql('attach/engine', 'schema'), options))
  const rewritten: string[] = []
  let before = new Map<string, string>()
  for (const { name, text } of migrations) {
    await database.pool.query(render(text, options))
    const after = await readFiles()
    for (const [table, file] of before) if (after.get(table) !== file) rewritten.push(`${name} ${table}`)
    before = after
  }
  return rewritten
}

it('OPS-7 no migration rewrites a table: calls that waited for its lock would find it empty', async () => {
  expect(await findRewritten(readSqlFolder('migrations'))).toEqual([])
})

it('OPS-7 a column of a domain with a constraint rewrites its table', async () => {
  const column = `add column colour "unstuck".stage_name not null default 'green'`
  const next = { name: '9999_next', text: `alter table "unstuck".policies ${column}` }
  expect(await findRewritten(withNextMigration(next))).toEqual(['9999_next policies'])
})

const claimBatches = readSql('functions', 'jobs/claim/claim_batches')
const claimDue = readSql('functions', 'jobs/claim/claim_due')
const completeJobs = readSql('functions', 'jobs/finish/complete_jobs')

const drop = (...names: string[]) => `do $do$ begin execute (
  select string_agg(format('drop function %s', oid::regprocedure), '; ') from pg_proc
   where pronamespace = 'unstuck'::regnamespace and proname = any ('{${names.join()}}')); end $do$`

/** Functions as another version might have them: one calls another with other arguments, and one has another result. */
const formerFunctions = [
  claimDue.replace('p_worker_id text', 'p_former int, p_worker_id text'),
  claimBatches.replace('"claim_due"(', '"claim_due"(0, '),
  completeJobs
    .replace('setof "unstuck".job_outcome', 'table (id text, outcome text, retry_in_ms float8)')
    .replace('as $$', () => 'as $$ #variable_conflict use_column'),
]

async function installFormer(): Promise<void> {
  const commands = ['begin', drop('claim_due', 'complete_jobs'), ...formerFunctions, 'commit']
  await database.pool.query(commands.join(';\n'))
}

describe('a function that is replaced', () => {
  it('OPS-7 while a claim runs: the claim is made again, with the new one', async () => {
    database = await createInstalledDatabase()
    onTestFinished(() => database.drop())
    await installFormer()
    const client = await database.connect()
    const store = createPostgresStore({ client, table: profile.tables[0] })
    const [job] = await store.enqueueJobs([{ type: 'asr' }])
    const migrator = await database.connect()
    await migrator.query('begin; lock table unstuck.policies')
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const claiming = store.claimJobs({ workerId: 'w1', queues: ['asr'], limit: 1 })
    await whenBlocked(database.pool, Number(rows[0]?.pid))
    await migrator.query(`${drop('claim_due')}; ${claimDue}; ${claimBatches}; commit`)
    expect(await claiming).toMatchObject([{ jobId: job?.jobId }])
  })

  it('OPS-7 while workers run: no claim fails, and every job completes at its first attempt', async () => {
    database = await createInstalledDatabase()
    onTestFinished(() => database.drop())
    const app = unstuck({ databaseUrl: database.url, concurrency: 10, pollMs: [10, 20] })
    onTestFinished(() => app.stop())
    const wrong: unknown[] = []
    app.on('claim:failed', ({ error }) => wrong.push(error))
    app.on('heartbeat:failed', ({ error }) => wrong.push(error))
    let completed = 0
    app.on('job:ended', (ended) => (ended.end === 'completed' ? completed++ : wrong.push(ended)))
    app.handle('asr', () => new Promise((resolve) => setTimeout(resolve, 5)))
    await app.start()
    const done = new AbortController()
    let enqueued = 0
    const feeding = (async () => {
      while (!done.signal.aborted)
        enqueued += (await app.enqueueMany(Array.from({ length: 20 }, () => ({ type: 'asr' })))).length
    })()
    for (let round = 0; round < 3; round++) {
      await installFormer()
      await migrateUp({ databaseUrl: database.url, ...target, migrations: withNextMigration() })
    }
    done.abort()
    await feeding
    await expect.poll(() => completed).toBe(enqueued)
    expect(wrong).toEqual([])
    const { rows } = await database.pool.query(
      'select count(*)::int as jobs, max(attempt) as attempts from unstuck.jobs',
    )
    expect(rows).toEqual([{ jobs: enqueued, attempts: 1 }])
  }, 120_000)
})
