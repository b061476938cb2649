// Pauses, breakers and limits, and the lease of an operation.
import type { Mutant } from './mutants.ts'

const queues = 'sql/functions/queues/pauses/open_queues.sql'
const tokens = 'sql/functions/queues/limits/take_tokens.sql'
const store = (filter: string) => ({ files: ['test/store/native.test.ts'], filter })

export const queueControlMutants: Mutant[] = [
  {
    id: 'M35',
    fault: 'a pause holds the queues of that name in every table',
    edits: [{ file: queues, find: 'pause.attachment = p_attachment and ', replacement: '' }],
    suites: [{ files: ['test/store/shared-breaker.test.ts'] }],
  },
  {
    id: 'M36',
    fault: 'a half-open breaker lets everything through',
    edits: [
      {
        file: queues,
        find: "filter (where breaker.state = 'half-open')",
        replacement: 'filter (where false)',
      },
    ],
    suites: [store('breakers'), { files: ['test/race/claiming/breaker.test.ts'] }],
  },
  {
    id: 'M37',
    fault: 'tokens are counted by the clock before the row locks',
    edits: [{ file: tokens, find: '  v_now := clock_timestamp();', replacement: '  v_now := now();' }],
    suites: [{ files: ['test/race/servers/clocks.test.ts'] }],
  },
  {
    id: 'M38',
    fault: 'the fullest of several limits decides',
    edits: [{ file: tokens, find: 'min(floor(', replacement: 'max(floor(' }],
    suites: [store('takeTokens')],
  },
  {
    id: 'M39',
    fault: 'a step of an operation ignores the lease',
    edits: [
      {
        file: 'sql/functions/operations/step_operation.sql',
        find: 'operation.lease_id = p_lease_id',
        replacement: 'true',
      },
    ],
    suites: [store('operations')],
  },
  {
    id: 'M40',
    fault: 'an operation is taken from the process that runs it',
    edits: [
      {
        file: 'sql/functions/operations/take_operation.sql',
        find: '(operation.lease_expires_at is null or operation.lease_expires_at <= now())',
        replacement: 'true',
      },
    ],
    suites: [store('operations'), { files: ['test/race/operators/operations.test.ts'] }],
  },
  {
    id: 'M41',
    fault: 'an operation can be stopped by another owner',
    edits: [
      {
        file: 'sql/functions/operations/abort_operation.sql',
        find: "(p_owner is null or owner = p_owner) and state = 'running'",
        replacement: "state = 'running'",
      },
    ],
    suites: [store('operations')],
  },
]
