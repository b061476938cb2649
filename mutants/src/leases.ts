// Leases: who may write, for how long, and their identity.
import type { Mutant } from './mutants.ts'

const sql = (path: string) => `sql/functions/jobs/${path}.sql`
const settles = [
  { files: ['test/spec'] },
  { files: ['test/store/native.test.ts'], filter: '(complete|fail|release)Jobs' },
]

export const leaseMutants: Mutant[] = [
  {
    id: 'M1',
    fault: 'complete ignores the lease',
    edits: [{ file: sql('finish/complete_jobs'), find: 'job."lease_id" = v_lease_id', replacement: 'true' }],
    suites: settles,
    // A seed with many long pauses: workers return with a result after their lease.
    chaos: ['--seed', '1118', '--minutes', '2', '--workload', 'sparse'],
  },
  {
    id: 'M68',
    fault: 'a completion that deletes the row ignores the lease',
    edits: [
      { file: sql('finish/delete_completed'), find: 'job."lease_id" = p_lease_id', replacement: 'true' },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'not kept' }],
  },
  {
    id: 'M69',
    fault: 'a row that is gone after a lost answer counts as completed',
    edits: [
      {
        file: 'src/runtime/attempt/late-result.ts',
        find: '(await isGone(store, job))) return UNKNOWN',
        replacement: "(await isGone(store, job))) return { end: 'completed' }",
      },
    ],
    suites: [{ files: ['test/surface/application/not-kept.test.ts'] }],
  },
  {
    id: 'M2',
    fault: 'fail ignores the lease',
    edits: [
      { file: sql('finish/fail_jobs'), find: 'job."lease_id" = failure.lease_id', replacement: 'true' },
    ],
    suites: settles,
  },
  {
    id: 'M3',
    fault: 'release ignores the lease',
    edits: [
      { file: sql('finish/release_jobs'), find: 'job."lease_id" = give.lease_id', replacement: 'true' },
    ],
    suites: settles,
  },
  {
    id: 'M4',
    fault: 'a heartbeat ignores the lease',
    edits: [
      {
        file: sql('lease/heartbeat_jobs'),
        find: 'where job."id" = beat.id and job."lease_id" = beat.lease_id',
        replacement: 'where job."id" = beat.id and true',
      },
      { file: sql('lease/extend_free_leases'), find: 'job."lease_id" = beat.lease_id', replacement: 'true' },
    ],
    suites: [{ files: ['test/spec'] }, { files: ['test/store/native.test.ts'], filter: 'heartbeatJobs' }],
  },
  {
    id: 'M83',
    fault: 'a report of progress ignores the lease',
    edits: [
      {
        file: sql('lease/report_progress'),
        find: 'where job."id" = last.id and job."lease_id" = last.lease_id',
        replacement: 'where job."id" = last.id and true',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'reportProgress' }],
  },
  {
    id: 'M10',
    fault: 'a lease is counted from the start of the transaction',
    edits: [
      {
        file: sql('claim/claim_due'),
        find: 'v_now timestamptz := clock_timestamp()',
        replacement: 'v_now timestamptz := now()',
      },
    ],
    suites: [{ files: ['test/race/servers/clocks.test.ts'] }],
  },
  {
    id: 'M11',
    fault: 'the end of a lease has no time zone',
    edits: [
      {
        file: 'sql/migrations/0002_jobs.sql',
        find: '"lease_expires_at"     timestamptz',
        replacement: '"lease_expires_at"     timestamp',
      },
    ],
    suites: [{ files: ['test/race/servers/clocks.test.ts'] }],
  },
  {
    id: 'M16',
    fault: 'a completion does not remember its lease',
    edits: [
      { file: sql('finish/complete_jobs'), find: '"finished_lease_id" = job."lease_id",', replacement: '' },
    ],
    suites: settles,
  },
  {
    id: 'M17',
    fault: 'the lease id is the same for every claim of a worker',
    edits: [
      {
        file: sql('claim/claim_batches'),
        find: 'lease_id := gen_random_uuid()',
        replacement: 'lease_id := md5(p_worker_id)::uuid',
      },
    ],
    suites: [{ files: ['test/spec', 'test/race/servers/failover.test.ts'] }],
  },
]
