import { afterAll, beforeAll, describe, it } from 'vitest'
import {
  type Bad,
  badFailure,
  dueId,
  heldId,
  ids,
  leaseId,
  leases,
  openRefusalBench,
  type RefusalBench,
  type Row,
  yearMs,
} from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)

describe('workers and leases', () => {
  const badWorkers: Bad[] = [[null], [''], ['w'.repeat(201)]]
  const badTimes: Bad[] = [[0], [-1], [yearMs + 1]]
  const badIds: Bad[] = [[null], [[dueId, null], `{${dueId},NULL}`], [[[dueId]], `{{${dueId}}}`]]
  it.each([
    ['claim_jobs', 'worker_id', `claim_jobs($1, array['a'], 1)`, ...badWorkers],
    ['claim_job', 'worker_id', `claim_job('${dueId}', $1)`, ...badWorkers],
    ['claim_jobs', 'lease_ms', `claim_jobs('w', array['a'], 1, null, $1)`, ...badTimes],
    ['claim_job', 'lease_ms', `claim_job('${dueId}', 'w', $1)`, ...badTimes],
    ['heartbeat_jobs', 'lease_ms', `heartbeat_jobs(${ids}, ${leases}, $1)`, ...badTimes],
    [
      'claim_jobs',
      'queues',
      `claim_jobs('w', $1, 1)`,
      [null],
      [['a', null], '{a,NULL}'],
      [[['a'], ['b']], '{{a},{b}}'],
    ],
    [
      'claim_jobs',
      'types',
      `claim_jobs('w', array['a'], 1, $1)`,
      [[null], '{NULL}'],
      [[['a'], ['b']], '{{a},{b}}'],
    ],
    [
      'complete_jobs',
      'results',
      `complete_jobs(${ids}, ${leases}, $1)`,
      [[], '0 results'],
      [['1', '2'], '2 results'],
      [[['1']], '1 results'],
      [['nope'], 'nope'],
      [['"\\u0000"'], '"\\u0000"'],
      [['['.repeat(100_000)], '[[['],
    ],
    ['claim_job', 'id', `claim_job($1, 'w')`, [null]],
    ['release_jobs', 'delay_ms', `release_jobs(${ids}, ${leases}, $1)`, [-1], [yearMs + 1]],
    ['release_jobs', 'cause', `release_jobs(${ids}, ${leases}, 0, $1)`, ['coffee'], [null]],
    ['release_jobs', 'reason', `release_jobs(${ids}, ${leases}, p_reason => $1)`, [''], ['r'.repeat(1001)]],
    ['cancel_jobs', 'ids', 'cancel_jobs($1)', ...badIds],
    ['retry_jobs', 'ids', 'retry_jobs($1)', ...badIds],
    ['enter_stage', 'leases', `enter_stage($1, '${leaseId}', 'asr')`, [null, '1 ids and 1 lease ids']],
    ['enter_stage', 'leases', `enter_stage('${heldId}', $1, 'asr')`, [null, '1 ids and 1 lease ids']],
    ['enter_stage', 'stage', `enter_stage('${heldId}', '${leaseId}', $1)`, [null], [''], ['s'.repeat(201)]],
    [
      'report_progress',
      'values',
      `report_progress(${ids}, ${leases}, $1)`,
      [null, 'NULL values'],
      [[], '0 values'],
      [[0.1, 0.2], '2 values'],
    ],
    [
      'report_progress',
      'values',
      `report_progress(${ids}, ${leases}, '{0.5}', $1)`,
      [['a', 'b'], '1 values'],
    ],
    [
      'report_progress',
      'progress',
      `report_progress(${ids}, ${leases}, $1)`,
      [[-0.1], '-0.1'],
      [[1.5], '1.5'],
      [['NaN'], 'NaN'],
      [[null], 'NULL'],
    ],
    [
      'report_progress',
      'progress_text',
      `report_progress(${ids}, ${leases}, '{0.5}', $1)`,
      [[''], ''],
      [['t'.repeat(201)], 't'.repeat(10)],
    ],
    [
      'record_late_result',
      'leases',
      `record_late_result($1, '${leaseId}', '{}')`,
      [null, '1 ids and 1 lease ids'],
    ],
    [
      'record_late_result',
      'leases',
      `record_late_result('${heldId}', $1, '{}')`,
      [null, '1 ids and 1 lease ids'],
    ],
    [
      'record_late_result',
      'details',
      `record_late_result('${heldId}', '${leaseId}', $1)`,
      [null],
      ['[]'],
      ['7'],
    ],
    ['retry_jobs', 'keep_attempts', `retry_jobs(${ids}, null, null, $1)`, [null]],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)

  // A completion takes one lease for all its jobs.
  const each = ['heartbeat_jobs', 'release_jobs'].map(
    (verb): Row => [verb, 'leases', `${verb}($1, ${leases})`, [[heldId, dueId], '2 ids and 1 lease ids']],
  )
  const pairs = ['heartbeat_jobs', 'complete_jobs', 'release_jobs'].flatMap((verb): Row[] => [
    [
      verb,
      'leases',
      `${verb}($1, ${leases})`,
      [null, 'NULL ids and 1 lease ids'],
      [[], '0 ids and 1 lease ids'],
      [[null], '1 ids and 1 lease ids'],
      [[[heldId]], '1 ids and 1 lease ids'],
    ],
    [
      verb,
      'leases',
      `${verb}(${ids}, $1)`,
      [null, '1 ids and NULL lease ids'],
      [[], '1 ids and 0 lease ids'],
      [[leaseId, leaseId], '1 ids and 2 lease ids'],
      [[null], '1 ids and 1 lease ids'],
      [[[leaseId]], '1 ids and 1 lease ids'],
    ],
  ])
  it.each([...each, ...pairs])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('failures', () => {
  const fail = 'fail_jobs($1::jsonb)'
  const incomplete = 'no id or no lease_id'
  it.each([
    ['fail_jobs', 'failures', fail, [null], ['{}'], ['7']],
    [
      'fail_jobs',
      'failure',
      fail,
      ['[{}]', incomplete],
      ['[7]', incomplete],
      badFailure({ id: null }, incomplete),
      badFailure({ lease_id: null }, incomplete),
      badFailure({ isRetryable: false }, 'isRetryable'),
    ],
    ['fail_jobs', 'id', fail, badFailure({ id: 'x' }, '"x"'), badFailure({ id: 7 }, '7')],
    [
      'fail_jobs',
      'lease_id',
      fail,
      badFailure({ lease_id: 'x' }, '"x"'),
      badFailure({ lease_id: [leaseId] }, '['),
    ],
    [
      'fail_jobs',
      'code',
      fail,
      badFailure({ code: {} }, '{}'),
      // The word by which retry_jobs knows a cancelled job: a dead job with it could not be retried.
      badFailure({ code: 'cancelled', is_retryable: false }, '"cancelled"'),
    ],
    ['fail_jobs', 'reason', fail, badFailure({ reason: 7 }, '7')],
    ['fail_jobs', 'stack', fail, badFailure({ stack: ['a'] }, '["a"]')],
    [
      'fail_jobs',
      'is_retryable',
      fail,
      badFailure({ is_retryable: 'x' }, '"x"'),
      badFailure({ is_retryable: 0 }, '0'),
    ],
    [
      'fail_jobs',
      'category',
      fail,
      badFailure({ category: 'BAD' }, '"BAD"'),
      badFailure({ category: 7 }, '7'),
    ],
    ['fail_jobs', 'cause', fail, badFailure({ cause: 'coffee' }, '"coffee"')],
    [
      'fail_jobs',
      'retry_in_ms',
      fail,
      badFailure({ retry_in_ms: -1 }, '-1'),
      badFailure({ retry_in_ms: yearMs + 1 }, String(yearMs + 1)),
      badFailure({ retry_in_ms: 'soon' }, '"soon"'),
    ],
    [
      'fail_jobs',
      'backoff_steps_ms',
      fail,
      badFailure({ backoff_steps_ms: [] }, '[]'),
      badFailure({ backoff_steps_ms: [-1] }, '[-1]'),
      badFailure({ backoff_steps_ms: 5 }, '5'),
    ],
    [
      'fail_jobs',
      'max_attempts',
      fail,
      badFailure({ max_attempts: 0 }, '0'),
      badFailure({ max_attempts: 1.5 }, '1.5'),
      badFailure({ max_attempts: '3' }, '"3"'),
    ],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})
