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

// Many different characters, so that compression does not make it fit into an index.
const varied = (length: number) =>
  Array.from({ length }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7919) % 20_000))).join('')

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
  it.each(pairs)('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('jobs as they are asked for', () => {
  const enqueue = 'enqueue_jobs($1::jsonb)'
  it.each([
    ['enqueue_jobs', 'jobs', enqueue, [null], ['{}'], ['7']],
    [
      'enqueue_jobs',
      'job',
      enqueue,
      ['[null]', 'null'],
      ['["a"]', '"a"'],
      ['[[]]', '[]'],
      badJob({ priorty: 1 }, 'priorty'),
      badJob({ id: heldId, payload: {} }, 'id'),
    ],
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
      badJob({ run_at: {} }, '{}'),
      badJob({ run_at: '' }, ''),
      badJob({ run_at: '2030-13-45T99:99Z' }, '2030-13-45T99:99Z'),
      badJob({ run_at: '2030-02-31T10:00Z' }, '2030-02-31T10:00Z'),
      badJob({ run_at: '2100-02-29T10:00Z' }, '2100-02-29T10:00Z'),
      badJob({ run_at: '0000-01-01T10:00Z' }, '0000-01-01T10:00Z'),
      badJob({ run_at: '2030-01-01T10:00 noon' }, '2030-01-01T10:00 noon'),
      badJob({ run_at: '2030-01-01T10:00+99' }, '2030-01-01T10:00+99'),
      // Without its zone it would be read in whatever zone the session has.
      badJob({ run_at: '2030-01-01T10:00' }, '2030-01-01T10:00'),
    ],
    ...['queue', 'stage', 'owner', 'traceparent', 'dedupe_key'].map((name): Row => {
      const long = varied(name === 'dedupe_key' ? 1001 : 201)
      return [
        'enqueue_jobs',
        name,
        enqueue,
        badJob({ [name]: long }, long),
        badJob({ [name]: '' }, ''),
        badJob({ [name]: 7 }, '7'),
        badJob({ [name]: {} }, '{}'),
        badJob({ [name]: [] }, '[]'),
      ]
    }),
    // Few enough characters, but too many bytes for an index.
    ['enqueue_jobs', 'dedupe_key', enqueue, badJob({ dedupe_key: varied(601) }, varied(601))],
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

  it.each([
    { delay_ms: 'tiny' },
    { run_at: '2030-01-31T10:00Z' },
    { run_at: '2028-02-29 23:59:59.123456+14:00' },
    { run_at: '2030-01-01T00:00:00.000-0330' },
    { type: 'x'.repeat(200), dedupe_key: 'k'.repeat(1000) },
    { type: varied(200), dedupe_key: varied(600), queue: varied(200) },
    { priority: null, run_at: null, delay_ms: null, queue: null, dedupe_key: null, owner: null, stage: null },
  ])('OPS-8 enqueue_jobs takes what is just allowed (%#)', async (job) => {
    const text = JSON.stringify([{ type: 'a', ...job }])
      .replace('null', '1.0')
      .replace('"tiny"', '1e-400')
    await bench.client.query('begin')
    const { rows } = await bench.client.query('select outcome from unstuck.enqueue_jobs($1::jsonb)', [text])
    await bench.client.query('rollback')
    expect(rows).toEqual([{ outcome: 'created' }])
  })
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
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('policies', () => {
  const bad: Bad[] = [['[]'], ['7'], ['null', 'null'], ['{"max_atempts": 3}', 'max_atempts']]
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

  const notNull = `
    attempt_counted_at failure_budget reap_budget max_attempts max_crashes max_timeouts
    default_lease_ms stage_leases_ms stage_factors default_deadline_ms stage_deadlines_ms
    heartbeat_ms sweep_interval_ms reap_backoff_steps_ms reap_backoff_base_ms
    reap_backoff_max_ms failure_backoff_steps_ms failure_backoff_base_ms
    failure_backoff_max_ms failure_backoff_jitter_ms requeue_rate_per_s legacy_age_rule
    retention_days events
  `
    .trim()
    .split(/\s+/)
  const badColumns: [column: string, ...values: unknown[]][] = [
    ...notNull.map((column): [string, ...unknown[]] => [column, null]),
    ['events', 'some', 7],
    ['attempt_counted_at', 'later'],
    ['failure_budget', 'crashes'],
    ['reap_budget', 'failures'],
    ['legacy_age_rule', 'yes', 1],
    ['retention_days', 0, 3651, '7'],
    ['requeue_rate_per_s', -1, 1e7],
    ['max_attempts', -1, 0, 1001, 2.5, '3', 1e30],
    ['default_lease_ms', 0, yearMs + 1, []],
    ['default_stage', '', 7, {}, 's'.repeat(201)],
    ['default_deadline_ms', -1, yearMs + 1],
    ['reap_backoff_steps_ms', [-1], [null], ['x'], [[1], [2]], 5, yearMs],
    [
      'stage_leases_ms',
      { a: 0 },
      { a: 0.5 },
      { a: yearMs + 1 },
      { a: 1e30 },
      { a: '5' },
      { a: null },
      { a: [1] },
      7,
    ],
    ['stage_deadlines_ms', { a: -1 }, { a: 0.4 }, { a: yearMs + 1 }, { a: 1e30 }, { a: null }, []],
    ['stage_factors', { a: -1 }, { a: 1001 }, { a: 'x' }, []],
  ]
  const storedAndPassed = [`claim_jobs('w', array['a'], 1, null, null, $1)`, `write_policy('native', $1)`]
  const badValues = storedAndPassed.flatMap((call) =>
    badColumns.map(([column, ...values]): Row => {
      const [routine = ''] = call.split('(')
      return [routine, column, call, ...values.map((value): Bad => [JSON.stringify({ [column]: value }), ''])]
    }),
  )
  it.each(badValues)('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)

  it.each([
    ['max_attempts', '-1', 'a whole number from 1 to 1000'],
    ['events', '"some"', 'recovery or all'],
    ['attempt_counted_at', 'null', 'claim, failure or failure-and-reap'],
    ['legacy_age_rule', '"x"', 'true or false'],
    ['stage_leases_ms', '{"a": 0}', 'an object of stages, each with whole milliseconds from 1 to one year'],
  ])('OPS-8 a bad %s is refused with its value and with what it takes', async (column, got, takes) => {
    // Fine keys stand around the bad one.
    const override = `{"attachment": "native", "retention_days": 7, "${column}": ${got}, "max_crashes": 5}`
    await expect(
      bench.client.query(`select unstuck.policy_of('native', $1)`, [override]),
    ).rejects.toMatchObject({ code: 'UN001', message: `${column}: got ${got}, takes ${takes}` })
  })

  it('OPS-8 a policy takes what is just allowed', async () => {
    const override = {
      default_stage: null,
      max_attempts: 1000,
      requeue_rate_per_s: 0,
      stage_leases_ms: { a: 1, b: yearMs },
      stage_deadlines_ms: { a: 0, b: yearMs },
      stage_factors: { a: 0, b: 1000, c: 1.5 },
      reap_backoff_steps_ms: [],
    }
    const { rows } = await bench.client.query(`select to_jsonb(unstuck.policy_of('native', $1)) as policy`, [
      JSON.stringify(override),
    ])
    expect(rows).toMatchObject([{ policy: override }])
  })

  it('OPS-8 write_policy refuses no change at all', async () => {
    await bench.expectRefusals('write_policy', 'change', `write_policy('native', $1)`, [null])
  })

  it('OPS-8 a table that is not attached is named by the error', async () => {
    await expect(bench.client.query(`select unstuck.write_policy('nobody', '{}')`)).rejects.toMatchObject({
      code: 'UN002',
      message: 'nothing is attached under the name nobody',
    })
  })
})

describe('reapers and retention', () => {
  const badReapers: Bad[] = [
    ['{}'],
    ['[]'],
    ['7'],
    ['null', 'null'],
    ['{"reaper_id": ""}'],
    ['{"reaper_id": 7}'],
    [JSON.stringify({ reaper_id: 'r'.repeat(201) }), '{"reaper_id"'],
  ]
  const badFact = (fields: object, shown: string): Bad => [
    JSON.stringify({ reaper_id: 'r', ...fields }),
    shown,
  ]
  it.each([
    ['sweep_jobs', 'reaper', 'sweep_jobs($1)', ...badReapers],
    ['sweep_jobs', 'reaper', 'sweep_jobs($1)', badFact({ elapsed: 5 }, 'elapsed')],
    // With a cursor too: the last step leaves the pulse.
    ['sweep_jobs', 'reaper', `sweep_jobs($1, 1000, '{}')`, ...badReapers],
    [
      'sweep_jobs',
      'last_swept_at',
      'sweep_jobs($1)',
      badFact({ last_swept_at: 'x' }, 'x'),
      badFact({ last_swept_at: 5 }, '5'),
      badFact({ last_swept_at: 'infinity' }, 'infinity'),
      badFact({ last_swept_at: '2026-02-30T00:00:00Z' }, '2026-02-30T00:00:00Z'),
    ],
    ...['elapsed_ms', 'failing_for_ms'].map(
      (name): Row => [
        'sweep_jobs',
        name,
        'sweep_jobs($1)',
        badFact({ [name]: 'x' }, 'x'),
        badFact({ [name]: '5' }, '5'),
        badFact({ [name]: -5 }, '-5'),
        badFact({ [name]: 1e300 }, '1000000'),
        badFact({ [name]: [] }, '[]'),
      ],
    ),
    [
      'sweep_jobs',
      'cursor',
      'sweep_jobs(null, 1, $1)',
      ['7'],
      ['[]'],
      ['null', 'null'],
      ['{"after": "x"}'],
      ['{"after": 7}'],
      ['{"outage_from": "x"}'],
      ['{"outage_to": 7}'],
      ['{"found_from": "x"}'],
      ['{"found_from": "2026-01-02T00:00:00Z"}'],
      [
        '{"found_from": "2026-01-02T00:00:00Z", "outage_from": "2026-01-01T00:00:00Z", "outage_to": "2026-01-01T00:00:00Z"}',
        '{"outage_to": "2026-01-01T00:00:00Z"',
      ],
      ['{"spread_ms": "x"}'],
      ['{"spread_ms": -1}'],
    ],
    // Less would shorten the backoff, even into the past; more would keep the job for ever.
    [
      'reap_jobs',
      'spread_ms',
      'reap_jobs(1, null, null, null, null, $1)',
      [-1e9],
      [-1],
      [yearMs + 1],
      ['Infinity'],
      ['NaN'],
    ],
    [
      'run_sweep',
      'reaper',
      'call unstuck.run_sweep($1)',
      [null, '{"reaper_id": null, "last_swept_at": null}'],
      ['', '{"reaper_id": "", "last_swept_at": null}'],
    ],
    ['prune_jobs', 'retention_days', 'prune_jobs($1)', [0], [-1], [3651]],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})
