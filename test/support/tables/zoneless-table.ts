// A table whose times are not plain timestamptz: some without a zone, as Prisma and Rails make them, some in milliseconds since
// 1970, as JavaScript counts them.
import { nativePolicy } from '../../../src/policy/policy.ts'
import type { Profile, TableProfile } from '../../../src/profile/profile.ts'

export const zonelessTable: TableProfile = {
  attachment: 'zoneless_jobs',
  schema: 'public',
  table: 'zoneless_jobs',
  idType: 'uuid',
  columns: {},
  statuses: {
    waiting: 'queued',
    running: ['processing'],
    succeeded: 'completed',
    dead: 'failed',
    cancelled: 'cancelled',
  },
  defaultType: 'job',
  ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
  timeZone: '+05:30',
  epochUnit: 'ms',
  teamEvents: null,
  policy: nativePolicy,
}

export const zonelessProfile: Profile = { name: 'team', tables: [zonelessTable] }

/**
 * Columns that the suite compares to the microsecond are not rounded. The session's zone is neither UTC nor the profile's, so
 * that a conversion by it would be seen.
 */
export const zonelessTables = `
  create table zoneless_jobs (
    id                  uuid primary key,
    status              text not null default 'queued',
    created_at          timestamp not null default (now() at time zone interval '+05:30'),
    run_at              timestamp,
    started_at          timestamp(6),
    last_attempt_at     timestamp(6),
    heartbeat_at        timestamp,
    lease_expires_at    timestamp,
    deadline_at         timestamp,
    queued_at           timestamp(3),
    updated_at          bigint,
    finished_at         bigint,
    cancel_requested_at bigint,
    reaped_at           bigint
  );
  do $$ begin execute format('alter database %I set timezone = ''America/St_Johns''', current_database()); end $$;
`
