// A table without a status: its times say which rows run, have succeeded and are dead.
import { nativePolicy } from '../../../src/policy/policy.ts'
import type { Profile, TableProfile } from '../../../src/profile/profile.ts'

export const timedTable: TableProfile = {
  attachment: 'timed_jobs',
  schema: 'public',
  table: 'timed_jobs',
  idType: 'uuid',
  columns: { finished_at: 'unstuck_finished_at' },
  statuses: {
    waiting: 'waiting',
    running: ['running'],
    succeeded: 'succeeded',
    dead: 'dead',
    cancelled: null,
  },
  stateColumns: { running: 'reserved_at', succeeded: 'finished_at', dead: 'failed_at' },
  defaultType: 'job',
  ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
  epochUnit: 'ms',
  teamEvents: null,
  policy: nativePolicy,
}

export const timedProfile: Profile = { name: 'team', tables: [timedTable] }

export const timedTables = `
  create table timed_jobs (
    id uuid primary key, reserved_at timestamptz, finished_at timestamp(3), failed_at bigint,
    created_at timestamptz not null default now()
  );
`
