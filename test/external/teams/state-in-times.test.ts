// Hand-made queues without a status: a job is reserved while its lock has a time, and ended when its end has one.
import { expect, it } from 'vitest'
import type { CommandFolder } from '../../migrate/command-folder.ts'
import { expectRescue, withCommands } from './team-journey.ts'

/** The team's own worker: reserves the newest free row, and ends it its own way. */
function ownWorker({ database }: CommandFolder, table: string, isFree: string, end: string) {
  return async () => {
    const client = await database.connect()
    const { rows } = await client.query<{ id: string }>(`insert into ${table} default values returning id`)
    const { rowCount } = await client.query(
      `update ${table} set reserved_at = now() at time zone 'UTC', reserved_by = 'ours', attempts = attempts + 1
        where id = (select max(id) from ${table} where ${isFree}) and id = $1`,
      [rows[0]?.id],
    )
    expect(rowCount).toBe(1)
    await client.query(`${end} where id = $1`, [rows[0]?.id])
    await client.end()
  }
}

const reserved = (table: string) =>
  [180, 95, 5]
    .map(
      (minutes) =>
        `insert into ${table} (reserved_at, reserved_by)
         values ((now() - interval '${minutes} min') at time zone 'UTC', 'worker');`,
    )
    .join('\n')

it('OPS-13 REAP-8 a queue that deletes what it has done gets its stuck jobs back, and is not claimed from', () =>
  withCommands(async (commands) => {
    await commands.database.pool.query(`
      create table webhook_queue (
        id bigserial primary key, body jsonb, attempts integer not null default 0, reserved_at timestamp(0), reserved_by text,
        created_at timestamp(0) not null default (now() at time zone 'UTC'));
      ${reserved('webhook_queue')}`)
    await expectRescue(commands, {
      table: 'webhook_queue',
      attachment: 'webhook_queue',
      statusColumn: 'reserved_at',
      waiting: null,
      stuckIds: async () => [1, 2],
      planSays:
        /-- public\.webhook_queue: no status; running while reserved_at is set[\s\S]*add column status text/,
      write: ownWorker(commands, 'webhook_queue', 'reserved_at is null', 'delete from webhook_queue'),
    })
  }))

it('OPS-13 REAP-8 a queue with times for its ends gets its stuck jobs back, and no job that has ended', () =>
  withCommands(async (commands) => {
    await commands.database.pool.query(`
      create table report_tasks (
        id bigserial primary key, attempts integer not null default 0, reserved_at timestamp, reserved_by text,
        completed_at timestamp, failed_at timestamp);
      ${reserved('report_tasks')}
      insert into report_tasks (reserved_at, completed_at, failed_at) values
        (now() - interval '1 day', now(), null), (now() - interval '1 day', null, now());`)
    await expectRescue(commands, {
      table: 'report_tasks',
      attachment: 'report_tasks',
      statusColumn: 'reserved_at',
      waiting: null,
      stuckIds: async () => [1, 2],
      planSays: /running while reserved_at is set, succeeded once completed_at is, dead once failed_at is/,
      write: ownWorker(
        commands,
        'report_tasks',
        'reserved_at is null and completed_at is null and failed_at is null',
        `update report_tasks set reserved_at = null, completed_at = now() at time zone 'UTC'`,
      ),
    })
  }))
