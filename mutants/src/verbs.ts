// Stages, failures and releases.
import type { Mutant } from './mutants.ts'

const stage = 'sql/functions/jobs/lease/enter_stage.sql'
const fail = 'sql/functions/jobs/finish/fail_jobs.sql'
const release = 'sql/functions/jobs/finish/release_jobs.sql'
const clocks = { files: ['test/race/servers/clocks.test.ts'] }
const store = (filter: string) => ({ files: ['test/store/native.test.ts'], filter })
const ownClock = { find: 'v_now timestamptz := clock_timestamp()', replacement: 'v_now timestamptz := now()' }

export const verbMutants: Mutant[] = [
  {
    id: 'M23',
    fault: 'a stage is entered without the lease',
    edits: [{ file: stage, find: 'job."lease_id" = p_lease_id and ', replacement: '' }],
    suites: [store('enterStage')],
  },
  {
    id: 'M24',
    fault: 'the lease of a stage is counted from the start of the transaction',
    edits: [{ file: stage, find: 'v_now := clock_timestamp();', replacement: 'v_now := now();' }],
    suites: [clocks],
  },
  {
    id: 'M30',
    fault: 'a stage is entered with the lease of a job that does not run',
    edits: [
      {
        file: stage,
        find: ` and job."status" is not distinct from /*any_running*/'running'`,
        replacement: '',
      },
    ],
    suites: [{ files: ['test/race/leases/hand-written-status.test.ts'] }],
  },
  {
    id: 'M31',
    fault: 'a failure ignores a requested cancel',
    edits: [
      { file: fail, find: "case when is_cancelled then 'cancelled'", replacement: "case when false then ''" },
    ],
    suites: [store('failJobs')],
  },
  {
    id: 'M32',
    fault: 'the backoff of a failure is counted from the start of the transaction',
    edits: [{ file: fail, ...ownClock }],
    suites: [clocks],
  },
  {
    id: 'M33',
    fault: 'a release costs an attempt',
    edits: [
      {
        file: release,
        find: "attempt_counted_at = 'claim' then 1",
        replacement: "attempt_counted_at = 'claim' then 0",
      },
    ],
    suites: [store('releaseJobs')],
  },
  {
    id: 'M34',
    fault: 'the delay of a release is counted from the start of the transaction',
    edits: [{ file: release, ...ownClock }],
    suites: [clocks],
  },
  {
    id: 'M42',
    fault: 'a job past its deadline enters a stage and continues',
    edits: [{ file: stage, find: 'if v_deadline_at <= v_now or', replacement: 'if false or' }],
    suites: [store('enterStage')],
  },
]
