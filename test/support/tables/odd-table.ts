// A table that tries the renderer: reserved and mixed-case names, an enum of other words, narrow and varying types, in a schema
// that is not public; and with unique dedupe keys, which other attached tables do not have.
import { nativePolicy } from '../../../src/policy/policy.ts'
import type { Profile, TableProfile } from '../../../src/profile/profile.ts'

export const oddTable: TableProfile = {
  attachment: 'user_order',
  schema: 'Ops Team',
  table: 'Order',
  idType: 'uuid',
  columns: {
    id: 'Id',
    type: 'select',
    payload: 'from',
    status: 'State',
    attempt: 'tryCount',
    max_attempts: 'maxTries',
    worker_id: 'lockedBy',
    run_at: 'it\'s "due"',
    created_at: 'createdAt',
    updated_at: 'updatedAt',
  },
  statuses: {
    waiting: 'To Do',
    running: ['Doing', 'Working'],
    succeeded: 'Done',
    dead: "Won't do",
    cancelled: 'Dropped',
  },
  defaultType: null,
  ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
  teamEvents: null,
  hasUniqueDedupeKey: true,
  policy: nativePolicy,
}

export const oddTables = `
  create schema "Ops Team";
  create type "Ops Team"."Order State" as enum ('To Do', 'Doing', 'Working', 'Done', 'Won''t do', 'Dropped');
  create table "Ops Team"."Order" (
    "Id"           uuid primary key,
    "select"       varchar(200) not null,
    "from"         json,
    "State"        "Ops Team"."Order State" not null default 'To Do',
    "tryCount"     smallint,
    "maxTries"     smallint,
    "lockedBy"     varchar(100),
    "it's ""due""" timestamptz,
    "createdAt"    timestamptz not null default now(),
    "updatedAt"    timestamptz
  );
`

/** Profiles of teams carry the name of the one they are made from. */
export const oddProfile: Profile = { name: 'clip', tables: [oddTable] }

/** The same with ids and words of varying length. */
export const varyingTable: TableProfile = { ...oddTable, attachment: 'task', table: 'Task', idType: 'text' }
export const varyingProfile: Profile = { name: 'clip', tables: [varyingTable] }
export const varyingTables = oddTables
  .slice(oddTables.indexOf('create table'))
  .replace('"Order" (', '"Task" (')
  .replace('uuid primary key', 'varchar(60) primary key')
  .replace('"Ops Team"."Order State" not null', 'varchar(20) not null')
