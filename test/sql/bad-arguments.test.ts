// Every public function, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Bad,
  badFailure,
  badJob,
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

describe('limits', () => {
  const bad: Bad[] = [[0], [-1], [10_001], [null]]
  it.each([
    ['claim_jobs', 'limit', `claim_jobs('w', array['a'], $1)`, ...bad],
    ['reap_jobs', 'limit', 'reap_jobs($1)', ...bad],
    ['bury_jobs', 'limit', 'bury_jobs($1)', ...bad],
    ['sweep_jobs', 'limit', 'sweep_jobs(null, $1)', ...bad],
    ['sweep_jobs', 'limit', `sweep_jobs('{"reaper_id": "r"}', $1)`, ...bad],
    ['preview_sweep', 'limit', 'preview_sweep($1)', ...bad],
    ['prune_jobs', 'limit', 'prune_jobs(1, $1)', ...bad],
    ['run_sweep', 'limit', `call unstuck.run_sweep('r', $1)`, ...bad],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('workers and leases', () => {
  const badWorkers: Bad[] = [[null], [''], ['w'.repeat(201)]]
  const badTimes: Bad[] = [[0], [-1], [yearMs + 1]]
  const badIds: Bad[] = [[null], [[dueId, null], `{${dueId},NULL}`]]
  it.each([
    ['claim_jobs', 'worker_id', `claim_jobs($1, array['a'], 1)`, ...badWorkers],
    ['claim_job', 'worker_id', `claim_job('${dueId}', $1)`, ...badWorkers],
    ['claim_jobs', 'lease_ms', `claim_jobs('w', array['a'], 1, null, $1)`, ...badTimes],
    ['claim_job', 'lease_ms', `claim_job('${dueId}', 'w', $1)`, ...badTimes],
    ['heartbeat_jobs', 'lease_ms', `heartbeat_jobs(${ids}, ${leases}, $1)`, ...badTimes],
    ['claim_jobs', 'queues', `claim_jobs('w', $1, 1)`, [null], [['a', null], '{a,NULL}']],
    ['claim_job', 'id', `claim_job($1, 'w')`, [null]],
    ['release_jobs', 'delay_ms', `release_jobs(${ids}, ${leases}, $1)`, [-1], [yearMs + 1]],
    ['release_jobs', 'cause', `release_jobs(${ids}, ${leases}, 0, $1)`, ['coffee'], [null]],
    ['cancel_jobs', 'ids', 'cancel_jobs($1)', ...badIds],
    ['retry_jobs', 'ids', 'retry_jobs($1)', ...badIds],
    ['enter_stage', 'leases', `enter_stage($1, '${leaseId}', 'asr')`, [null, '1 ids and 1 lease ids']],
    ['enter_stage', 'leases', `enter_stage('${heldId}', $1, 'asr')`, [null, '1 ids and 1 lease ids']],
    ['enter_stage', 'stage', `enter_stage('${heldId}', '${leaseId}', $1)`, [null], [''], ['s'.repeat(201)]],
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

  const pairs = ['heartbeat_jobs', 'complete_jobs', 'release_jobs'].flatMap((verb): Row[] => [
    [
      verb,
      'leases',
      `${verb}($1, ${leases})`,
      [null, 'NULL ids and 1 lease ids'],
      [[], '0 ids and 1 lease ids'],
      [[heldId, dueId], '2 ids and 1 lease ids'],
      [[null], '1 ids and 1 lease ids'],
    ],
    [
      verb,
      'leases',
      `${verb}(${ids}, $1)`,
      [null, '1 ids and NULL lease ids'],
      [[], '1 ids and 0 lease ids'],
      [[leaseId, leaseId], '1 ids and 2 lease ids'],
      [[null], '1 ids and 1 lease ids'],
    ],
  ])
  it.each(pairs)('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('jobs as they are asked for', () => {
  const enqueue = 'enqueue_jobs($1::jsonb)'
  it.each([
    ['enqueue_jobs', 'jobs', enqueue, [null], ['{}'], ['7']],
    ['enqueue_jobs', 'job', enqueue, ['[null]', 'null'], ['["a"]', '"a"'], ['[[]]', '[]']],
    [
      'enqueue_jobs',
      'type',
      enqueue,
      ['[{}]', 'NULL'],
      badJob({ type: '' }, ''),
      badJob({ type: 7 }, '7'),
      badJob({ type: null }, 'NULL'),
      badJob({ type: 'x'.repeat(201) }, 'x'.repeat(60)),
    ],
    [
      'enqueue_jobs',
      'priority',
      enqueue,
      badJob({ priority: 1e9 }, '1000000000'),
      badJob({ priority: -32_769 }, '-32769'),
      badJob({ priority: 1.5 }, '1.5'),
      badJob({ priority: 'x' }, 'x'),
      badJob({ priority: true }, 'true'),
    ],
    [
      'enqueue_jobs',
      'delay_ms',
      enqueue,
      badJob({ delay_ms: -1 }, '-1'),
      badJob({ delay_ms: 1e12 }, '1000000000000'),
      badJob({ delay_ms: 'soon' }, 'soon'),
    ],
    [
      'enqueue_jobs',
      'run_at',
      enqueue,
      badJob({ delay_ms: 1, run_at: '2030-01-01T00:00:00Z' }, 'a time beside delay_ms'),
      badJob({ run_at: 'tomorrow' }, 'tomorrow'),
      badJob({ run_at: 'infinity' }, 'infinity'),
      badJob({ run_at: 1_900_000_000 }, '1900000000'),
    ],
    [
      'enqueue_jobs',
      'max_attempts',
      enqueue,
      badJob({ max_attempts: 0 }, '0'),
      badJob({ max_attempts: 1001 }, '1001'),
      badJob({ max_attempts: 2.5 }, '2.5'),
      badJob({ max_attempts: '3' }, '3'),
    ],
    [
      'enqueue_jobs',
      'expected_duration_ms',
      enqueue,
      badJob({ expected_duration_ms: -1 }, '-1'),
      badJob({ expected_duration_ms: 2 ** 31 }, '2147483648'),
      badJob({ expected_duration_ms: 'long' }, 'long'),
    ],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
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
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('policies', () => {
  const bad: Bad[] = [
    ['[]'],
    ['7'],
    ['null', 'null'],
    ['{"max_atempts": 3}', 'max_atempts'],
    ['{"events": "some"}', '{"events": "some"'],
    ['{"events": null}', '{"events": null'],
    ['{"retention_days": 0}', '{"'],
    ['{"requeue_rate_per_s": -1}', '{"'],
  ]
  const takers = [
    `enqueue_jobs('[{"type": "a"}]', $1)`,
    `claim_jobs('w', array['a'], 1, null, null, $1)`,
    `claim_job('${dueId}', 'w', null, $1)`,
    `heartbeat_jobs(${ids}, ${leases}, null, $1)`,
    `fail_jobs('[{"id": "${heldId}", "lease_id": "${leaseId}"}]', $1)`,
    `enter_stage('${heldId}', '${leaseId}', 'asr', $1)`,
    'reap_jobs(1, null, $1)',
    'bury_jobs(1, $1)',
    'sweep_jobs(null, 1, null, $1)',
    'preview_sweep(1, $1)',
    'read_health($1)',
    `write_policy('native', $1)`,
    `policy_of('native', $1)`,
  ]
  it.each(takers.map((call): Row => [call.replace(/\(.*/s, ''), 'policy', call, ...bad]))(
    'OPS-8 %s refuses a bad %s and writes nothing: %s',
    expectRefusals,
  )

  it('OPS-8 a table that is not attached is named by the error', async () => {
    await expect(bench.client.query(`select unstuck.write_policy('nobody', '{}')`)).rejects.toMatchObject({
      code: 'UN002',
      message: 'nothing is attached under the name nobody',
    })
  })
})

describe('reapers and retention', () => {
  it.each([
    [
      'sweep_jobs',
      'reaper',
      'sweep_jobs($1)',
      ['{}'],
      ['[]'],
      ['7'],
      ['{"reaper_id": ""}'],
      [JSON.stringify({ reaper_id: 'r'.repeat(201) }), '{"reaper_id"'],
    ],
    [
      'run_sweep',
      'reaper',
      'call unstuck.run_sweep($1)',
      [null, '{"reaper_id": null}'],
      ['', '{"reaper_id": ""}'],
    ],
    ['prune_jobs', 'retention_days', 'prune_jobs($1)', [0], [-1], [3651]],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})
