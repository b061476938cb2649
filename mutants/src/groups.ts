// Limits of queues and groups, and order.
import type { Mutant } from './mutants.ts'

const lockGrouped = 'sql/functions/jobs/claim/groups/lock_grouped.sql'
const openGroups = 'sql/functions/jobs/claim/groups/open_groups.sql'
const races = { files: ['test/race/claiming/groups.test.ts'] }
const conformance = (filter: string) => ({ files: ['test/store/native.test.ts'], filter })

export const groupMutants: Mutant[] = [
  {
    id: 'M80',
    fault: "a group is counted in the claim's own snapshot, before its row is locked",
    edits: [
      {
        file: lockGrouped,
        find: 'greatest(0, least(v_share, p_places - coalesce(running.jobs, 0)',
        replacement: 'greatest(0, least(v_share, p_places',
      },
    ],
    suites: [races, conformance('groups')],
  },
  {
    id: 'M81',
    fault: 'a group in order skips a head that is not due',
    edits: [
      {
        file: lockGrouped,
        find: `and (job."expires_at" <= now() and job."run_at" > now()) is not true
              order by job."id" limit 1) first`,
        replacement: `and coalesce(job."run_at", job."created_at") <= now()
              order by job."id" limit 1) first`,
      },
      {
        file: openGroups,
        find: `and (job."expires_at" <= now() and job."run_at" > now()) is not true
                          order by job."id" limit 1) end`,
        replacement: `and coalesce(job."run_at", job."created_at") <= now()
                          order by job."id" limit 1) end`,
      },
    ],
    suites: [conformance('groups in order')],
  },
  {
    id: 'M82',
    fault: 'a claim of a limited queue does not lock its row',
    edits: [
      {
        file: 'sql/functions/jobs/claim/groups/claim_turn.sql',
        find: 'is_refused := not v_has_slot;',
        replacement: 'is_refused := false;',
      },
    ],
    suites: [races],
  },
]
