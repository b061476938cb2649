// Reaping: which jobs, how many at once, and what it costs them.
import type { Mutant } from './mutants.ts'

const reap = 'sql/functions/reaping/reap/reap_jobs.sql'
const expiry = 'and (ended.at < now() and not '
const windows = [
  { files: ['test/race/leases/beat-and-reap.test.ts', 'test/race/leases/finish-and-reap.test.ts'] },
]

export const reapMutants: Mutant[] = [
  {
    id: 'M5',
    fault: 'the reaper does not check again under the lock',
    edits: [
      {
        file: reap,
        find: 'order by job."id" limit p_limit for no key update of job skip locked',
        replacement: 'order by job."id" limit p_limit',
      },
    ],
    suites: windows,
  },
  {
    id: 'M6',
    fault: 'the reaper selects in one statement and writes in another',
    edits: [
      {
        file: reap,
        find: 'v_now timestamptz := clock_timestamp();',
        replacement: `v_now timestamptz := clock_timestamp();
  v_seen /*id*/uuid[] := array(
    select job."id" from "unstuck"."jobs" job
     where job."status" in /*running_words*/('running') and job."lease_expires_at" < now()
       and not "unstuck".is_held(p_outage_from, p_outage_to, job."lease_expires_at", job."heartbeat_at", 60000));`,
      },
      { file: reap, find: expiry, replacement: 'and (job."id" = any (v_seen) or false and ' },
    ],
    suites: windows,
  },
  {
    id: 'M8',
    fault: 'a reap gives the attempt back',
    edits: [
      {
        file: reap,
        find: '"attempt" = judged.attempt_after',
        replacement: '"attempt" = judged.attempt_after - 1',
      },
    ],
    suites: [{ files: ['test/spec'] }, { files: ['test/store/native.test.ts'], filter: 'sweepJobs' }],
  },
  {
    id: 'M9',
    fault: 'nothing is held back after an outage of the database',
    edits: [
      {
        file: 'sql/functions/reaping/reap/verdicts.sql',
        find: 'return coalesce(p_ended_at >=',
        replacement: 'return false and coalesce(p_ended_at >=',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'holds of a sweep' }],
    chaos: ['--seed', '5', '--minutes', '1', '--scenario', 'outages'],
  },
  {
    id: 'M19',
    fault: 'a sweep takes everything at once',
    edits: [{ file: reap, find: 'order by job."id" limit p_limit', replacement: 'order by job."id"' }],
    suites: [
      { files: ['test/store/native.test.ts'], filter: 'sweepJobs' },
      { files: ['test/race/claiming/claim-limit.test.ts'] },
    ],
  },
  {
    id: 'M25',
    fault: 'jobs that crashed in one process are requeued together',
    edits: [
      {
        file: 'sql/functions/reaping/reap/waits.sql',
        find: 'and p_jobs > 1',
        replacement: 'and p_jobs < 1',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'REAP-15' }],
  },
  {
    id: 'M26',
    fault: 'a mass expiry is judged by jobs instead of workers',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/begin_sweep.sql',
        find: 'elsif v_is_mass then',
        replacement: 'elsif v_expired >= 10 then',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'workers that fall silent at once' }],
  },
  {
    id: 'M28',
    fault: 'a waiting row of a team is ended by a claim',
    edits: [
      {
        file: 'sql/functions/jobs/claim/chance_of.sql',
        find: 'not /*judged_waiting*/(',
        replacement: 'not (',
      },
    ],
    suites: [{ files: ['test/store/clip.test.ts'], filter: 'C29' }],
  },
  {
    id: 'M29',
    fault: 'a locked table is no outage',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/begin_sweep.sql',
        find: 'elsif "unstuck".ms_between(v_last.locked_since, v_now) > v_shortest_ms::float8 / 2::float8 then',
        replacement: 'elsif false then',
      },
    ],
    suites: [{ files: ['test/race/locks/locked-table.test.ts'] }],
  },
  {
    id: 'M43',
    fault: 'a claim leaves jobs without budget waiting',
    edits: [
      {
        file: 'sql/functions/jobs/claim/decide_claim.sql',
        find: 'perform "unstuck"."bury_spent"(v_spent, p_policy);',
        replacement: '',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'waiting jobs without budget' }],
  },
  {
    id: 'M44',
    fault: 'a sweep scans the waiting jobs',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/sweep_step.sql',
        find: '  if v_is_last then\n    v_reaped :=',
        replacement: `  if not v_policy.is_observed then perform "unstuck"."bury_jobs"(p_limit, p_policy); end if;
  if v_is_last then\n    v_reaped :=`,
      },
    ],
    suites: [{ files: ['test/sql/plans/sweep-cost.test.ts'] }],
  },
  {
    id: 'M45',
    fault: 'a reaper closes its sweep in the transaction of its last jobs',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/sweep_step.sql',
        find: 'case when p_reaper is null then p_limit else 1 end',
        replacement: 'p_limit',
      },
    ],
    suites: [{ files: ['test/race/leases/rescue-first.test.ts'] }],
  },
  {
    id: 'M61',
    fault: 'a reaper that stood by counts a mass of leases from its last report, not from the last sweep',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/begin_sweep.sql',
        find: 'least(v_swept_at, "unstuck".after_ms(v_last.swept_at, -v_last.duration_ms))',
        replacement: 'v_swept_at',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'REAP-16' }],
  },
  {
    id: 'M62',
    fault: 'nobody takes over the sweeps of a reaper that is gone',
    edits: [
      {
        file: 'sql/functions/reaping/sweep/sharing.sql',
        find: 'is_sweep_due := p_interval_ms is not null and not "unstuck".is_swept(p_attachment, 1.1 * p_interval_ms)',
        replacement: 'is_sweep_due := false',
      },
    ],
    suites: [{ files: ['test/store/native.test.ts'], filter: 'REAP-17' }],
  },
  {
    id: 'M63',
    fault: 'the sweep after a death is left to others',
    edits: [
      {
        file: 'src/runtime/services/reaper.ts',
        find: 'const isUrgent = this.#isUrgent\n',
        replacement: 'const isUrgent = this.#isUrgent && this.#countAtMs < 0\n',
      },
    ],
    suites: [{ files: ['src/runtime/services/reaper.test.ts'] }],
  },
  {
    id: 'M64',
    fault: 'retention deletes jobs that were requeued after it found them',
    edits: [
      {
        file: 'sql/functions/jobs/operate/prune_jobs.sql',
        find: '       for update of job skip locked\n',
        replacement: '',
      },
    ],
    suites: [{ files: ['test/race/operators/prune.test.ts'] }],
  },
]
