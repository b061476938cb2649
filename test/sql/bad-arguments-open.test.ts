// Arguments that are not refused yet, or refused by PostgreSQL in words of its own. Each row is a test that will pass
// when its function refuses the value: `it.fails` then reports it, and the row moves to bad-arguments.test.ts.
import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest'
import {
  badFailure,
  badJob,
  heldId,
  ids,
  leases,
  openRefusalBench,
  type RefusalBench,
  type Row,
} from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
})
beforeEach(() => bench.plant())
afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)

// Random, so that compression does not make it fit into an index.
const huge = Array.from({ length: 4_000 }, (_, n) =>
  String.fromCharCode(0x4e00 + ((n * 7919) % 20_000)),
).join('')

describe('jobs as they are asked for', () => {
  const enqueue = 'enqueue_jobs($1::jsonb)'
  it.fails.each([
    // 22008 and 22007: the form is checked, the date is not.
    ['enqueue_jobs', 'run_at', enqueue, badJob({ run_at: '2030-13-45T99:99Z' }, '2030-13-45T99:99Z')],
    ['enqueue_jobs', 'run_at', enqueue, badJob({ run_at: '2030-02-31T10:00Z' }, '2030-02-31T10:00Z')],
    ['enqueue_jobs', 'run_at', enqueue, badJob({ run_at: '2030-01-01T10:00 noon' }, '2030-01-01T10:00 noon')],
    // Accepted, and read in whatever time zone the session has.
    ['enqueue_jobs', 'run_at', enqueue, badJob({ run_at: '2030-01-01T10:00' }, '2030-01-01T10:00')],
    // 54000, index row too long.
    ['enqueue_jobs', 'queue', enqueue, badJob({ queue: huge }, huge)],
    ['enqueue_jobs', 'dedupe_key', enqueue, badJob({ dedupe_key: huge }, huge)],
    // Accepted as the text of the JSON.
    ['enqueue_jobs', 'queue', enqueue, badJob({ queue: 7 }, '7')],
    ['enqueue_jobs', 'queue', enqueue, badJob({ queue: '' }, '')],
    ['enqueue_jobs', 'dedupe_key', enqueue, badJob({ dedupe_key: {} }, '{}')],
    ['enqueue_jobs', 'dedupe_key', enqueue, badJob({ dedupe_key: '' }, '')],
    ['enqueue_jobs', 'stage', enqueue, badJob({ stage: 7 }, '7')],
    ['enqueue_jobs', 'owner', enqueue, badJob({ owner: [] }, '[]')],
    ['enqueue_jobs', 'traceparent', enqueue, badJob({ traceparent: {} }, '{}')],
    // Accepted and ignored: a misspelt name.
    ['enqueue_jobs', 'job', enqueue, badJob({ priorty: 1 }, 'priorty')],
  ] satisfies Row[])('OPS-8 %s should refuse this %s (%#)', expectRefusals)
})

describe('claims and settlements', () => {
  it.fails.each([
    // 0A000 of array_position.
    ['claim_jobs', 'queues', `claim_jobs('w', $1, 1)`, [[['a'], ['b']], '{{a},{b}}']],
    ['heartbeat_jobs', 'leases', `heartbeat_jobs($1, ${leases})`, [[[heldId]], '']],
    ['cancel_jobs', 'ids', 'cancel_jobs($1)', [[[heldId]], `{{${heldId}}}`]],
    ['retry_jobs', 'ids', 'retry_jobs($1)', [[[heldId]], `{{${heldId}}}`]],
    // Accepted: matches no job.
    ['claim_jobs', 'types', `claim_jobs('w', array['a'], 1, $1)`, [[null], '{NULL}']],
    // 22P02 of the cast.
    ['complete_jobs', 'results', `complete_jobs(${ids}, ${leases}, $1)`, [['nope'], 'nope']],
    // Accepted: results belong to jobs by their place.
    ['complete_jobs', 'results', `complete_jobs(${ids}, ${leases}, $1)`, [[], '0 results']],
    ['complete_jobs', 'results', `complete_jobs(${ids}, ${leases}, $1)`, [['1', '2'], '2 results']],
  ] satisfies Row[])('OPS-8 %s should refuse this %s (%#)', expectRefusals)
})

describe('failures', () => {
  const fail = 'fail_jobs($1::jsonb)'
  it.fails.each([
    // 22P02 of jsonb_to_recordset.
    ['fail_jobs', 'id', fail, badFailure({ id: 'x' }, '"x"')],
    ['fail_jobs', 'lease_id', fail, badFailure({ lease_id: 'x' }, '"x"')],
    ['fail_jobs', 'is_retryable', fail, badFailure({ is_retryable: 'x' }, '"x"')],
    // Accepted: a failure meant to be final is retried.
    ['fail_jobs', 'failure', fail, badFailure({ isRetryable: false }, 'isRetryable')],
    // Accepted: the word by which retry_jobs knows a cancelled job, so the dead job cannot be retried.
    ['fail_jobs', 'code', fail, badFailure({ code: 'cancelled', is_retryable: false }, '"cancelled"')],
    ['fail_jobs', 'code', fail, badFailure({ code: {} }, '{}')],
  ] satisfies Row[])('OPS-8 %s should refuse this %s (%#)', expectRefusals)
})

describe('policies', () => {
  const claim = `claim_jobs('w', array['a'], 1, null, null, $1)`
  it.fails.each([
    // Ours, but the message has neither the key nor the value.
    ['claim_jobs', 'max_attempts', claim, ['{"max_attempts": -1}', '-1']],
    ['claim_jobs', 'default_lease_ms', claim, ['{"default_lease_ms": 0}', '0']],
    ['claim_jobs', 'stage_factors', claim, ['{"stage_factors": {"a": -1}}', '']],
    // Accepted: nothing is claimed, or a job runs with no lease or one that is over at once.
    ['claim_jobs', 'max_attempts', claim, ['{"max_attempts": null}', 'null']],
    ['claim_jobs', 'max_crashes', claim, ['{"max_crashes": null}', 'null']],
    ['claim_jobs', 'default_lease_ms', claim, ['{"default_lease_ms": null}', 'null']],
    ['claim_jobs', 'stage_leases_ms', claim, ['{"stage_leases_ms": {"a": 0}}', '']],
    ['claim_jobs', 'stage_leases_ms', claim, ['{"stage_leases_ms": {"a": 1e13}}', '']],
    ['claim_jobs', 'stage_deadlines_ms', claim, ['{"stage_deadlines_ms": {"a": 0.4}}', '']],
    // 22003.
    ['claim_jobs', 'stage_leases_ms', claim, ['{"stage_leases_ms": {"a": 1e30}}', '']],
    ['claim_jobs', 'stage_deadlines_ms', claim, ['{"stage_deadlines_ms": {"a": 1e30}}', '']],
    // 23502 of the table, where the same change as an override is accepted.
    ['write_policy', 'max_attempts', `write_policy('native', $1)`, ['{"max_attempts": null}', 'null']],
    // Accepted, and written: every claim of that stage fails from then on.
    [
      'write_policy',
      'stage_leases_ms',
      `write_policy('native', $1)`,
      ['{"stage_leases_ms": {"a": 1e30}}', ''],
    ],
    ['write_policy', 'change', `write_policy('native', $1)`, [null]],
  ] satisfies Row[])('OPS-8 %s should refuse this %s (%#)', expectRefusals)
})

describe('sweeps', () => {
  const fact = (fields: object) => JSON.stringify({ reaper_id: 'r', ...fields })
  it.fails.each([
    // 22007, 22P02, 22008.
    ['sweep_jobs', 'last_swept_at', 'sweep_jobs($1)', [fact({ last_swept_at: 'x' }), 'x']],
    ['sweep_jobs', 'elapsed_ms', 'sweep_jobs($1)', [fact({ elapsed_ms: 'x' }), 'x']],
    ['sweep_jobs', 'failing_for_ms', 'sweep_jobs($1)', [fact({ failing_for_ms: 1e300 }), '']],
    ['sweep_jobs', 'cursor', 'sweep_jobs(null, 1, $1)', ['{"after": "x"}']],
    // Accepted.
    ['sweep_jobs', 'failing_for_ms', 'sweep_jobs($1)', [fact({ failing_for_ms: -5 }), '-5']],
    ['sweep_jobs', 'cursor', 'sweep_jobs(null, 1, $1)', ['7']],
    // Accepted: with a cursor the reaper is not looked at, and a pulse without a name is left.
    ['sweep_jobs', 'reaper', `sweep_jobs($1, 1000, '{}')`, ['{}']],
    // Accepted: shortens the backoff, here into the past.
    ['reap_jobs', 'spread_ms', 'reap_jobs(1, null, null, null, null, $1)', [-1e9]],
    // Accepted: the job waits for ever.
    ['reap_jobs', 'spread_ms', 'reap_jobs(1, null, null, null, null, $1)', ['Infinity']],
    // 22008.
    ['reap_jobs', 'spread_ms', 'reap_jobs(1, null, null, null, null, $1)', ['NaN']],
  ] satisfies Row[])('OPS-8 %s should refuse this %s (%#)', expectRefusals)
})
