// Tables with the times of Rails, of a hand-made PHP queue and of JavaScript: without a zone, or as integers.
import { expect, it } from 'vitest'
import type { CommandFolder } from '../../migrate/command-folder.ts'
import { expectRescue, type Team, withCommands } from './team-journey.ts'

/** The team's own worker: takes the next due job, and ends it. Its times are the team's, whatever the engine does. */
function ownWorker({ database }: CommandFolder, table: string, now: string, columns: OwnColumns) {
  const { status, due, locked, seen } = columns
  return async () => {
    const client = await database.connect()
    await client.query(`insert into ${table} (${due}) values (${now})`)
    const { rowCount } = await client.query(
      `update ${table} set ${status} = 'processing', ${locked} = ${now}, ${seen} = ${now}
        where id = (select id from ${table} where ${status} = 'queued' and ${due} <= ${now}
                     order by id desc limit 1 for update skip locked)`,
    )
    expect(rowCount).toBe(1)
    await client.query(
      `update ${table} set ${status} = 'done', ${seen} = ${now} where id = (select max(id) from ${table})`,
    )
    await client.end()
  }
}

interface OwnColumns {
  status: string
  due: string
  locked: string
  seen: string
}

/** `ages` are the minutes for which nothing was heard of running jobs: the first two are stuck. */
const runningRows = (table: string, columns: OwnColumns, time: (minutes: number) => string) =>
  [180, 95, 5]
    .map((minutes) => {
      const at = time(minutes)
      const names = `${columns.status}, ${columns.due}, ${columns.locked}, ${columns.seen}`
      return `insert into ${table} (${names}) values ('processing', ${at}, ${at}, ${at});`
    })
    .join('\n')

async function rescue(
  commands: CommandFolder,
  sql: string,
  columns: OwnColumns,
  time: (minutes: number) => string,
  team: Pick<Team, 'table' | 'attachment' | 'planSays'>,
): Promise<void> {
  await commands.database.pool.query(sql + runningRows(team.table, columns, time))
  await expectRescue(commands, {
    ...team,
    statusColumn: columns.status,
    waiting: 'queued',
    stuckIds: async () => [1, 2],
    write: ownWorker(commands, team.table, time(0), columns),
  })
}

it('OPS-13 REAP-8 the timestamps of Rails are used as UTC', () =>
  withCommands((commands) =>
    rescue(
      commands,
      // rails g model import_job state:string … t.datetime is timestamp(6) without time zone, and Active Record writes UTC.
      `create table import_jobs (
         id bigserial primary key, state varchar not null default 'queued', args jsonb, attempts integer not null default 0,
         locked_by varchar, locked_at timestamp(6) without time zone, run_at timestamp(6) without time zone,
         created_at timestamp(6) without time zone not null default (now() at time zone 'UTC'),
         updated_at timestamp(6) without time zone not null default (now() at time zone 'UTC'));
       create index index_import_jobs_on_state_and_run_at on import_jobs (state, run_at);`,
      { status: 'state', due: 'run_at', locked: 'locked_at', seen: 'updated_at' },
      (minutes) => `(now() - interval '${minutes} min') at time zone 'UTC'`,
      {
        table: 'import_jobs',
        attachment: 'import_jobs',
        planSays:
          /-- public\.import_jobs: created_at, updated_at, run_at, locked_at: no time zone; read and written as UTC/,
      },
    ),
  ))

it('OPS-13 REAP-8 seconds since 1970 are used as they are', () =>
  withCommands((commands) =>
    rescue(
      commands,
      `create table sync_jobs (
         id bigserial primary key, status varchar(20) not null default 'queued', payload text not null default '',
         attempts smallint not null default 0, worker varchar(60), available_at integer not null,
         reserved_at integer, updated_at integer,
         created_at integer not null default extract(epoch from now()));`,
      { status: 'status', due: 'available_at', locked: 'reserved_at', seen: 'updated_at' },
      (minutes) => `floor(extract(epoch from now() - interval '${minutes} min'))`,
      {
        table: 'sync_jobs',
        attachment: 'sync_jobs',
        planSays: /-- public\.sync_jobs: .*available_at.*: seconds since 1970/,
      },
    ),
  ))

it('OPS-13 REAP-8 milliseconds since 1970 are used as they are', () =>
  withCommands((commands) =>
    rescue(
      commands,
      `create table "renderJobs" (
         id bigserial primary key, "jobStatus" text not null default 'queued', "attemptCount" integer not null default 0,
         "lockedBy" text, "lockedAt" bigint, "runAt" bigint, "updatedAt" bigint,
         "createdAt" bigint not null default floor(extract(epoch from now()) * 1000));`,
      { status: '"jobStatus"', due: '"runAt"', locked: '"lockedAt"', seen: '"updatedAt"' },
      (minutes) => `floor(extract(epoch from now() - interval '${minutes} min') * 1000)`,
      {
        table: 'public."renderJobs"',
        attachment: 'render_jobs',
        planSays: /-- public\.renderJobs: .*runAt.*: milliseconds since 1970/,
      },
    ),
  ))
