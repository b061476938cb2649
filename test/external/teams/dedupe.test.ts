// A team whose rows may share a dedupe key: attach must not forbid that, and enqueue keeps its promise all the same.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { completeProfile, type OwnTable } from '../../../src/profile/own-profile.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { type CommandFolder, openCommandFolder } from '../../migrate/command-folder.ts'
import { describeSchema } from '../../migrate/describe.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'

let { database, run, close } = {} as CommandFolder
beforeEach(async () => {
  ;({ database, run, close } = await openCommandFolder())
})
afterEach(() => close())

/** As the team's own code does it, twice. */
const insertTwice = () =>
  database.pool.query<{ id: string }>(
    `insert into executor_jobs (type, dedupe_key, created_at) values
       ('run_tsa', 'doc-1', now() - interval '1 minute'), ('run_tsa', 'doc-1', now()) returning id`,
  )

interface Index {
  name: string
  is_unique: boolean
}

async function keyIndexes(): Promise<Index[]> {
  const { rows } = await database.pool.query<Index>(
    `select relname as name, indisunique as is_unique from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = 'executor_jobs'::regclass and pg_get_indexdef(indexrelid) like '%(type, dedupe_key)%' order by 1`,
  )
  return rows
}

const enqueue = async (key: string) =>
  (
    await database.pool.query<{ id: string; outcome: string }>(
      'select id, outcome from unstuck.enqueue_jobs__executor_jobs($1::jsonb)',
      [JSON.stringify([{ type: 'run_tsa', dedupe_key: key }])],
    )
  ).rows

describe('the executor’s table', () => {
  it('OPS-7 takes the team’s own INSERT of a key that an unfinished job has, after the attach as before', async () => {
    await database.pool.query(executorTables)
    await insertTwice()
    expect(await run('attach', '--profile', 'executor')).toMatchObject({ exitCode: 0 })
    expect((await insertTwice()).rowCount).toBe(2)
    expect(await keyIndexes()).toEqual([{ name: 'unstuck_executor_jobs_keys', is_unique: false }])
  })

  it('WORK-7 enqueue answers the oldest unfinished job that has the key, whoever wrote it', async () => {
    await database.pool.query(executorTables)
    await run('migrate', 'up', '--profile', 'executor')
    const [oldest] = (await insertTwice()).rows
    expect(await enqueue('doc-1')).toEqual([{ id: oldest?.id, outcome: 'duplicate' }])
    const [first] = await enqueue('doc-2')
    expect(await enqueue('doc-2')).toEqual([{ id: first?.id, outcome: 'duplicate' }])
  })

  it('OPS-7 loses the unique index that an older version added, and doctor and attach say so', async () => {
    await database.pool.query(executorTables)
    await run('attach', '--profile', 'executor')
    // As 0.1.0 left it.
    await database.pool.query(
      `drop index unstuck_executor_jobs_keys;
       create unique index unstuck_executor_jobs_dedupe on executor_jobs (type, dedupe_key)
         where dedupe_key is not null and status in ('queued', 'running', 'processing');
       update unstuck.attachments set added_indexes = array_replace(
         added_indexes, 'unstuck_executor_jobs_keys', 'unstuck_executor_jobs_dedupe') where name = 'executor_jobs'`,
    )
    await expect(insertTwice()).rejects.toMatchObject({ code: '23505' })
    const state = 'dedupe index unique, which the profile does not say'
    expect((await run('doctor', '--profile', 'executor')).stdout).toContain(`public.executor_jobs: ${state}`)
    expect((await run('attach', '--plan', '--profile', 'executor')).stdout).toMatch(
      /create +index concurrently +if not exists "unstuck_executor_jobs_keys"[\s\S]*drop index concurrently if exists "public"\."unstuck_executor_jobs_dedupe"/,
    )

    const attached = await run('attach', '--profile', 'executor')
    expect(attached.exitCode).toBe(0)
    expect(attached.stderr).toContain('index unstuck_executor_jobs_dedupe dropped: it was unique')
    expect(await keyIndexes()).toEqual([{ name: 'unstuck_executor_jobs_keys', is_unique: false }])
    expect((await insertTwice()).rowCount).toBe(2)
    expect(await run('migrate', 'status', '--profile', 'executor')).toMatchObject({ exitCode: 0 })
  })

  it('OPS-5 is after a detach as it was, the index of an older version included', async () => {
    await database.pool.query(executorTables)
    const before = await describeSchema(database.pool, 'public')
    await run('attach', '--profile', 'executor')
    await database.pool.query(
      `create unique index unstuck_executor_jobs_dedupe on executor_jobs (type, dedupe_key);
       update unstuck.attachments set added_indexes = added_indexes || 'unstuck_executor_jobs_dedupe'::text
        where name = 'executor_jobs'`,
    )
    expect(await run('detach', '--profile', 'executor', '--yes')).toMatchObject({ exitCode: 0 })
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
  })
})

describe('a profile of the team’s own', () => {
  const tableWith = (fields: Partial<OwnTable>) =>
    completeProfile({
      name: 'team',
      tables: [
        {
          table: 'executor_jobs',
          idType: 'uuid',
          statuses: { waiting: 'queued', running: ['running'], succeeded: 'succeeded', dead: 'dead' },
          ignoredStatuses: ['processing', 'failed'],
          columns: { attempt: 'attempts' },
          ...fields,
        },
      ],
    })
  const up = (fields: Partial<OwnTable>) =>
    migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: tableWith(fields) })

  it('OPS-7 that calls the key unique gets a unique index, for its own writers too', async () => {
    await database.pool.query(executorTables)
    await up({ hasUniqueDedupeKey: true })
    await expect(insertTwice()).rejects.toMatchObject({ code: '23505' })
    expect(await keyIndexes()).toEqual([{ name: 'unstuck_executor_jobs_dedupe', is_unique: true }])
    const [first] = await enqueue('doc-1')
    expect(await enqueue('doc-1')).toEqual([{ id: first?.id, outcome: 'duplicate' }])
  })

  it('OPS-7 may change its mind, and has one index on the keys at the end', async () => {
    await database.pool.query(executorTables)
    await up({})
    await up({ hasUniqueDedupeKey: true })
    expect(await keyIndexes()).toEqual([{ name: 'unstuck_executor_jobs_dedupe', is_unique: true }])
    await up({})
    expect(await keyIndexes()).toEqual([{ name: 'unstuck_executor_jobs_keys', is_unique: false }])
  })

  it('OPS-7 that calls keys unique which are not is refused, and the team’s rows and index stay', async () => {
    await database.pool.query(executorTables)
    await up({})
    await insertTwice()
    await expect(up({ hasUniqueDedupeKey: true })).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      hint: expect.stringContaining('hasUniqueDedupeKey'),
    })
    expect(await keyIndexes()).toEqual([{ name: 'unstuck_executor_jobs_keys', is_unique: false }])
    expect(await enqueue('doc-1')).toMatchObject([{ outcome: 'duplicate' }])
  })

  it('WORK-7 over partitions takes dedupe keys too', async () => {
    await database.pool.query(
      `create table executor_jobs (id uuid not null default gen_random_uuid(), status text not null default 'queued',
         attempts int not null default 0, created_at timestamptz not null default now(), primary key (id, created_at)
       ) partition by range (created_at);
       create table executor_jobs_all partition of executor_jobs default`,
    )
    const profile = tableWith({ features: ['dedupe', 'queues'] })
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
    const store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
    const calls = Array.from({ length: 5 }, () => store.enqueueJobs([{ type: 'a', dedupeKey: 'k' }]))
    const answers = (await Promise.all(calls)).flat()
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1)
  })
})
