// Counting, selecting and recording.
import type { Mutant } from './mutants.ts'

const claim = 'sql/functions/jobs/claim/claim_due.sql'

export const jobMutants: Mutant[] = [
  {
    id: 'M7',
    fault: 'attempts are counted at the failure instead of the claim',
    edits: [
      {
        file: claim,
        find: "v_counted int := (p_policy.attempt_counted_at = 'claim')::int",
        replacement: 'v_counted int := 0',
      },
      {
        file: 'sql/functions/jobs/finish/failures.sql',
        find: "attempt_counted_at = 'failure' and",
        replacement: "attempt_counted_at = 'claim' and",
      },
    ],
    suites: [{ files: ['test/spec'] }, { files: ['test/store/native.test.ts'], filter: 'claimJobs' }],
  },
  {
    id: 'M13',
    fault: 'a claim applies its conditions after its limit',
    edits: [
      {
        file: claim,
        find: 'select job.ctid as place,',
        replacement: 'select job."type"::text as type, job.ctid as place,',
      },
      {
        file: claim,
        find: '(p_types is null or p_types ? job."type"::text) and',
        replacement: '',
      },
      {
        file: claim,
        find: 'where p_ids is null or asked.single is null or asked.single = any (p_ids)',
        replacement: 'where p_types is null or p_types ? job.type',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'claimJobs' }],
  },
  {
    id: 'M14',
    fault: 'a change has no event',
    edits: [
      {
        file: 'sql/functions/jobs/record_events.sql',
        find: 'return cardinality(p_events);\nend\n$$;',
        replacement: 'return cardinality(p_events);\nexception when others then\n  return 0;\nend\n$$;',
      },
    ],
    suites: [{ files: ['test/race/locks/event-and-transition.test.ts'] }],
  },
  {
    id: 'M15',
    fault: 'a retry ignores the owner',
    edits: [
      {
        file: 'sql/functions/jobs/operate/retry_jobs.sql',
        find: '(p_owner is null or job."owner"::text = p_owner)',
        replacement: 'true',
      },
    ],
    suites: [
      { files: ['test/race/operators/retry.test.ts'] },
      { files: ['test/store/native.test.ts'], filter: 'retryJobs' },
    ],
  },
  {
    id: 'M18',
    fault: 'a batch locks its rows in the order of its arguments',
    edits: [
      {
        file: 'sql/functions/jobs/finish/complete_jobs.sql',
        find: `where job."id" = any (p_ids)`,
        replacement: `from pg_catalog.unnest(p_ids) asked(id) where job."id" = asked.id`,
      },
      // Sorted for a merge join, rows would come in order anyway.
      {
        file: 'sql/functions/jobs/finish/complete_jobs.sql',
        find: 'set enable_hashjoin = off',
        replacement: 'set enable_hashjoin = off set enable_mergejoin = off',
      },
    ],
    suites: [{ files: ['test/race/locks/lock-order.test.ts'] }],
  },
  {
    id: 'M20',
    fault: 'a cancel overwrites a completed job',
    edits: [
      {
        file: 'sql/functions/jobs/operate/cancel_jobs.sql',
        find: `job."status" = /*waiting*/'waiting' as is_waiting`,
        replacement: `job."status" in (/*waiting*/'waiting', /*succeeded*/'succeeded') as is_waiting`,
      },
    ],
    suites: [{ files: ['test/spec', 'test/race/operators/cancel.test.ts'] }],
  },
  {
    id: 'M27',
    fault: 'a view shows the rows of its owner to every reader',
    edits: [
      {
        file: 'sql/functions/attachments/keep_rights.sql',
        find: 'set (security_invoker = true)',
        replacement: 'set (security_invoker = false)',
      },
    ],
    suites: [{ files: ['test/migrate/tables/team-rights.test.ts'] }],
  },
  {
    id: 'M46',
    fault: 'a last chance is claimed beside other jobs',
    edits: [
      {
        file: 'sql/functions/policy/budget.sql',
        find: 'coalesce(p_crashes, 0) > 0',
        replacement: 'coalesce(p_crashes, 0) < 0',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'REAP-15' }],
  },
  {
    id: 'M47',
    fault: 'a worker that runs a last chance is given other jobs',
    edits: [
      {
        file: 'sql/functions/jobs/claim/kept_workers.sql',
        find: 'else job."lease_id" = v_kept.lease_id end',
        replacement: 'else false end',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'REAP-15' }],
  },
  {
    id: 'M50',
    fault: 'an operator of another role takes precedence',
    edits: [{ file: 'sql/functions/reaping/sweep/counts.sql', find: '/ 2::float8', replacement: '/ 2' }],
    suites: [{ files: ['test/sql/access/search-path.test.ts'], filter: 'hostile' }],
  },
  {
    id: 'M51',
    fault: 'an upgrade cannot replace what bound bodies use',
    edits: [
      {
        file: 'sql/attach/engine/unbind_routines.sql',
        find: 'and prosqlbody is not null\n  loop',
        replacement: 'and false\n  loop',
      },
    ],
    suites: [{ files: ['test/migrate/schema/schema.test.ts'], filter: 'older version' }],
  },
  {
    id: 'M65',
    fault: 'a claim grants every row that lies where the locked one lies in its partition',
    edits: [
      {
        file: claim,
        find: 'job.ctid = due.place and job.tableoid = due.part',
        replacement: 'job.ctid = due.place',
      },
    ],
    suites: [{ files: ['test/migrate/tables/partitioned-tables.test.ts'], filter: 'same place' }],
  },
  {
    id: 'M66',
    fault: 'a claim forgets jobs that were updated while it looked for them',
    edits: [
      {
        file: 'sql/functions/jobs/claim/claim_batches.sql',
        find: 'continue when v_take > 0 and v_due.locked > v_due.granted and v_tries < 3;',
        replacement: '',
      },
    ],
    suites: [{ files: ['test/race/claiming/moved-row.test.ts'] }],
  },
  {
    id: 'M67',
    fault: 'a completion takes any lease of its batch for any job of it',
    edits: [
      {
        file: 'sql/functions/jobs/finish/complete_jobs.sql',
        find: '(job."id"::/*id*/uuid, job."lease_id") in (select * from unnest(p_ids, p_lease_ids))',
        replacement: 'job."lease_id" = any (p_lease_ids)',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'stale lease' }],
  },
]
