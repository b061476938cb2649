// Presence: whose lock counts, for how long it may be missing, and what proves life.
import type { Mutant } from './mutants.ts'

const sql = (path: string) => `sql/functions/workers/${path}.sql`
const rules = [{ files: ['test/sql/sweeps/presence.test.ts'] }]

export const presenceMutants: Mutant[] = [
  {
    id: 'M52',
    fault: 'the presence lock is exclusive',
    edits: [
      {
        file: sql('take_presence'),
        find: 'perform pg_advisory_lock_shared(',
        replacement: 'perform pg_advisory_lock(',
      },
    ],
    suites: rules,
  },
  {
    id: 'M53',
    fault: 'a session of a pooler passes for the worker’s own',
    edits: [
      {
        file: 'src/store/postgres/connection/connection-identity.ts',
        find: '.processID === backendPid',
        replacement: '.processID !== undefined || backendPid === undefined',
      },
    ],
    suites: [
      {
        files: ['test/external/pgbouncer/presence.test.ts'],
        config: 'test/external/pgbouncer/vitest.config.ts',
      },
    ],
  },
  {
    id: 'M54',
    fault: 'the start time alone identifies the run of a server',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/outages.sql',
        find: '"unstuck".iso_utc(stats.stats_reset),\n                   left(pg_walfile_name(pg_current_wal_lsn()), 8),',
        replacement: '',
      },
    ],
    suites: [{ files: ['test/race/servers/presence-epoch.test.ts'] }],
  },
  {
    id: 'M55',
    fault: 'the jobs of a gone worker are taken without its lock',
    edits: [
      {
        file: sql('gone_workers'),
        find: `where pg_try_advisory_xact_lock("unstuck".lock_class('presence'), presence_key)`,
        replacement: 'where presence_key is not null',
      },
    ],
    suites: rules,
  },
  {
    id: 'M56',
    fault: 'a heartbeat or a claim since is no proof of life',
    edits: [
      {
        file: 'sql/functions/reaping/reap/reap_jobs.sql',
        find: 'or greatest(job."heartbeat_at", job."started_at") < (v_gone ->> job."worker_id"::text)::timestamptz)',
        replacement: 'or coalesce(v_gone ? job."worker_id"::text, false))',
      },
    ],
    suites: rules,
  },
  {
    id: 'M57',
    fault: 'a sign of life over another connection is none',
    edits: [
      { file: sql('presence'), find: ' and p_seen_at < p_vanished_at, false)', replacement: ', false)' },
      {
        file: sql('look_at_workers'),
        find: 'or worker.seen_at >= worker.vanished_at)',
        replacement: 'or false)',
      },
    ],
    suites: rules,
  },
  {
    id: 'M58',
    fault: 'a worker is gone at the first look without its lock',
    edits: [
      {
        file: sql('presence'),
        find: 'p_absent_at >= "unstuck".after_ms(p_vanished_at, p_grace_ms)',
        replacement: 'p_absent_at >= p_vanished_at',
      },
      {
        file: sql('look_at_workers'),
        find: 'p_now >= "unstuck".after_ms(worker.vanished_at, worker.grace_ms)',
        replacement: 'p_now >= worker.vanished_at',
      },
    ],
    suites: rules,
  },
  {
    id: 'M59',
    fault: 'workers that vanish together are dead',
    edits: [
      {
        file: sql('look_at_workers'),
        find: 'vanished >= 3 and 2 * vanished > known or vanished = 2 and known = 2 as is_mass',
        replacement: 'false as is_mass',
      },
    ],
    suites: rules,
  },
  {
    id: 'M60',
    fault: 'the time without looks counts as absence',
    edits: [
      {
        file: sql('look_at_workers'),
        find: 'coalesce("unstuck".after_ms(worker.absent_at, 2 * worker.presence_grace_ms) < p_now, true)',
        replacement: 'worker.absent_at is null',
      },
    ],
    suites: rules,
  },
]
