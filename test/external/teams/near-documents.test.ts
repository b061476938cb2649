// Tables that are nearly those of a document: scan recognises them, and attach drafts a profile that extends the document's.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CommandFolder } from '../../migrate/command-folder.ts'
import { embeddingTables } from '../../support/tables/embedding-tables.ts'
import { cronWrappers } from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { expectRescue, withCommands } from './team-journey.ts'

const expectNearly = async ({ run }: CommandFolder, table: string, profile: string) => {
  const { stdout } = await run('scan', '--json')
  const { tables } = JSON.parse(stdout) as { tables: { table: string; nearly: string | null }[] }
  expect(tables.map(({ table: name, nearly }) => [name, nearly])).toEqual([[table, profile]])
  expect((await run('scan')).stdout).toContain(`nearly the table of profile ${profile}`)
}

const inConfig = ({ folder }: CommandFolder) => readFileSync(join(folder, 'unstuck.config.mjs'), 'utf8')

it('OPS-13 OPS-3 the executor in another schema, with other words and another column, is extended', () =>
  withCommands(async (commands) => {
    const { database } = commands
    const sql = (executorTables + cronWrappers)
      .replaceAll(/\bpublic\b(?!;)/g, 'ops')
      .replace('FROM PUBLIC', 'FROM public')
      .replaceAll("'queued'", "'pending'")
      .replaceAll("'running', 'processing'", "'in_progress'")
      .replaceAll("'succeeded', 'failed', 'dead'", "'done', 'discarded'")
      .replaceAll('attempts ', 'tries ')
    await database.pool.query(`create schema ops; ${sql}`)
    const running = `insert into ops.executor_jobs (type, status, locked_by, locked_at, updated_at)
      select 'run_tsa', 'in_progress', 'worker', at, at
        from (select now() - minutes * interval '1 min' as at from unnest(array[180, 95, 5]) minutes) times`
    await database.pool.query(running)
    await expectNearly(commands, 'executor_jobs', 'executor')
    await expectRescue(commands, {
      table: 'ops.executor_jobs',
      schema: 'ops',
      attachment: 'executor_jobs',
      statusColumn: 'status',
      waiting: 'pending',
      stuckIds: async () =>
        (
          await database.pool.query(
            `select id from ops.executor_jobs where locked_at < now() - interval '1 hour'`,
          )
        ).rows.map(({ id }) => id),
      planSays: /extends: 'executor'[\s\S]*ops[\s\S]*reclaim_stale_jobs/,
      write: async () => {
        const client = await database.connect()
        await client.query(`insert into ops.executor_jobs (type, created_at) values ('mail', 'infinity')`)
        const { rowCount } = await client.query(
          `with next as (select id from ops.executor_jobs where status = 'pending' order by created_at desc limit 1 for update)
           update ops.executor_jobs job set status = 'in_progress', locked_at = now(), locked_by = 'own', tries = tries + 1
             from next where job.id = next.id`,
        )
        expect(rowCount).toBe(1)
        await client.query(
          `update ops.executor_jobs set status = 'done', locked_at = null where locked_by = 'own'`,
        )
        await client.end()
      },
    })
    const config = inConfig(commands)
    expect(config).toContain("extends: 'executor'")
    expect(config).toContain("schema: 'ops'")
    expect(config).toContain("columns: { attempt: 'tries' }")
    expect(config).toMatch(
      /statuses: \{ waiting: 'pending', succeeded: 'done', dead: 'discarded', running: \['in_progress'\] \}/,
    )
  }))

it('OPS-13 the camelCase converter of Prisma is extended', () =>
  withCommands(async (commands) => {
    const { database } = commands
    await database.pool.query(`create table "ConversionJob" (
        id text primary key default gen_random_uuid()::text, "pdfPath" text not null default 'a.pdf',
        status text not null default 'queued', "attemptCount" integer not null default 0, "lastAttemptAt" timestamp(3),
        "retryAfter" timestamp(3), "leasedBy" text, "leaseExpiresAt" timestamp(3), "errorCode" text,
        "errorMessage" text, "startedAt" timestamp(3),
        "createdAt" timestamp(3) not null default (now() at time zone 'UTC'),
        "updatedAt" timestamp(3) not null default (now() at time zone 'UTC'));
      insert into "ConversionJob" (status, "leasedBy", "leaseExpiresAt", "startedAt", "updatedAt")
        select 'processing', 'worker', at, at, at
          from (select now() at time zone 'UTC' - minutes * interval '1 min' as at
                  from unnest(array[180, 95, -10]) minutes) times`)
    await expectNearly(commands, 'ConversionJob', 'converter')
    await expectRescue(commands, {
      table: 'public."ConversionJob"',
      attachment: 'conversion_job',
      statusColumn: 'status',
      waiting: 'queued',
      stuckIds: async () =>
        (
          await database.pool.query(
            `select id from "ConversionJob" where "leaseExpiresAt" < now() at time zone 'UTC'`,
          )
        ).rows.map(({ id }) => id),
      planSays: /extends: 'converter'/,
      write: async () => {
        const client = await database.connect()
        await client.query(
          `insert into "ConversionJob" (id) values ('own') on conflict (id) do update set status = 'queued'`,
        )
        const { rowCount } = await client.query(
          `update "ConversionJob" set status = 'processing', "leasedBy" = 'own', "attemptCount" = "attemptCount" + 1,
                  "leaseExpiresAt" = now() at time zone 'UTC' + interval '1 min'
            where id = 'own' and ("retryAfter" is null or "retryAfter" <= now() at time zone 'UTC')`,
        )
        expect(rowCount).toBe(1)
        await client.query(
          `update "ConversionJob" set status = 'completed', "leasedBy" = null, "leaseExpiresAt" = null where id = 'own'`,
        )
        await client.end()
      },
    })
    const config = inConfig(commands)
    expect(config).toContain("extends: 'converter'")
    expect(config).toMatch(/run_at: 'retryAfter'/)
    expect(config).not.toContain('statuses:')
  }))

it('OPS-13 the table of document 002 under another name is extended', () =>
  withCommands(
    async (commands) => {
      const { database } = commands
      await database.pool.query(`${embeddingTables.replaceAll('embedding_jobs', 'vector_tasks')};
      insert into vector_tasks (status, lock_owner, lock_until, updated_at)
        select 'processing', 'worker', at, at
          from (select now() - minutes * interval '1 min' as at from unnest(array[180, 95, -10]) minutes) times`)
      await expectNearly(commands, 'vector_tasks', 'embedding')
      await expectRescue(commands, {
        table: 'public.vector_tasks',
        attachment: 'vector_tasks',
        statusColumn: 'status',
        waiting: 'pending',
        stuckIds: async () =>
          (await database.pool.query(`select id from vector_tasks where lock_until < now()`)).rows.map(
            ({ id }) => id,
          ),
        planSays: /EMBED_JOB_RETENTION_DAYS[\s\S]*extends: 'embedding'/,
        write: async () => {
          const client = await database.connect()
          await client.query(`insert into vector_tasks (document_id, created_at) values ('own', 'infinity')`)
          const { rowCount } = await client.query(
            `update vector_tasks set status = 'processing', lock_owner = 'own', lock_until = now() + interval '5 min'
            where document_id = 'own' and status = 'pending'`,
          )
          expect(rowCount).toBe(1)
          await client.query(
            `update vector_tasks set status = 'completed', lock_owner = null, lock_until = null where document_id = 'own'`,
          )
          await client.end()
        },
      })
      expect(inConfig(commands)).toMatch(/extends: 'embedding'[\s\S]*table: 'vector_tasks'/)
    },
    { EMBED_JOB_RETENTION_DAYS: '14' },
  ))
