// The functions of breakers, queues and limits, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bad, openRefusalBench, type RefusalBench, type Row, yearMs } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)
const badNames: Bad[] = [[null], [''], ['n'.repeat(201)]]
const badQueues: Bad[] = [[null], [''], ['q'.repeat(1001)]]
const badTimes: Bad[] = [[0], [-1], [yearMs + 1]]

describe('breakers', () => {
  it.each([
    ['map_dependency', 'name', `map_dependency('a', $1)`, [''], ['n'.repeat(201)]],
    ['record_calls', 'name', `record_calls($1, '[]')`, ...badNames],
    ['record_probe', 'name', 'record_probe($1, true)', ...badNames],
    ['write_breaker', 'name', `write_breaker($1, '{}')`, ...badNames],
    ['hold_breaker', 'name', 'hold_breaker($1)', ...badNames],
    ['resume_breaker', 'name', 'resume_breaker($1)', ...badNames],
    ['delete_breaker', 'name', 'delete_breaker($1)', ...badNames],
    ['record_probe', 'is_healthy', `record_probe('gateway', $1)`, [null]],
    ['hold_breaker', 'duration_ms', `hold_breaker('gateway', $1)`, ...badTimes],
    ['record_calls', 'calls', `record_calls('gateway', $1)`, [null], ['{}'], ['7']],
    [
      'record_calls',
      'call',
      `record_calls('gateway', $1)`,
      ['[7]', '7'],
      ['[{}]', '{}'],
      ['["is_failure"]', '"is_failure"'],
      ['[{"job_id": null}]', '{"job_id": null}'],
      ['[{"is_failure": null}]', '{"is_failure": null}'],
      ['[{"is_failure": "yes"}]', '{"is_failure": "yes"}'],
      ['[{"is_failure": false}, {"is_failure": true, "job_id": 7}]', '{"job_id": 7, "is_failure": true}'],
    ],
    [
      'record_calls',
      'limited_ms',
      `record_calls('gateway', $1)`,
      ['[{"is_failure": false, "limited_ms": -1}]', '-1'],
      ['[{"is_failure": false, "limited_ms": "4"}]', '"4"'],
      ['[{"is_failure": false, "limited_ms": 31536000001}]', '31536000001'],
    ],
    [
      'write_breaker',
      'change',
      `write_breaker('gateway', $1)`,
      [null],
      ['[]'],
      ['{"window": 20}', 'window'],
      ['{"name": "other"}', 'name'],
      ['{"calls": []}', 'calls'],
      ['{"window_calls": 0}'],
      ['{"window_calls": 1.5}'],
      ['{"window_ms": 0}'],
      ['{"window_ms": 1.5}'],
      ['{"window_ms": "soon"}'],
      ['{"called_at": []}', 'called_at'],
      ['{"min_calls": 1001}'],
      ['{"fail_threshold": 0}'],
      ['{"fail_threshold": 1.1}'],
      ['{"fail_threshold": "NaN"}'],
      ['{"cooldown_ms": -1}'],
      ['{"cooldown_ms": null}'],
      ['{"close_after": 0}'],
      ['{"probe_interval_ms": -1}'],
      ['{"probe_slots": 0}'],
      ['{"probe_timeout_ms": 0}'],
      ['{"mode": "sometimes"}'],
      ['{"mode": null}'],
    ],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('queues', () => {
  it.each([
    ['map_dependency', 'queue', `map_dependency($1, 'gateway')`, ...badQueues],
    ['pause_queue', 'queue', 'pause_queue($1)', ...badQueues],
    ['resume_queue', 'queue', 'resume_queue($1)', ...badQueues],
    ['pause_queue', 'duration_ms', `pause_queue('a', $1)`, ...badTimes],
    ['limit_queue', 'queue', 'limit_queue($1, 1)', ...badQueues],
    ['limit_queue', 'concurrency', `limit_queue('a', $1)`, [0], [-1], [1_000_001]],
    ['limit_queue', 'group_concurrency', `limit_queue('a', null, $1)`, [0], [-1], [1_000_001]],
    ['limit_queue', 'group_concurrency', `limit_queue('a', null, $1, 'fifo')`, [2]],
    ['limit_queue', 'group_order', `limit_queue('a', null, null, $1)`, ['lifo'], ['']],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('limits', () => {
  const limit = { key: 'gateway', rate_per_s: 1, burst: 1 }
  const badLimit = (fields: object, shown: string): Bad => [
    JSON.stringify([limit, { ...limit, key: 'other', ...fields }]),
    shown,
  ]
  const take = 'take_tokens($1::jsonb)'
  it.each([
    [
      'take_tokens',
      'tokens',
      `take_tokens('${JSON.stringify([limit])}', $1)`,
      [null],
      [0],
      [-1],
      [1_000_001],
    ],
    ['take_tokens', 'limits', take, [null], ['{}'], ['7'], ['[]', '0']],
    ['take_tokens', 'key', take, ['[7]', '7'], badLimit({ key: '' }, '""'), badLimit({ key: 7 }, '7')],
    ['take_tokens', 'key', take, [JSON.stringify([limit, limit]), '"gateway"']],
    [
      'take_tokens',
      'rate_per_s',
      take,
      badLimit({ rate_per_s: 0 }, '0'),
      badLimit({ rate_per_s: -1 }, '-1'),
      badLimit({ rate_per_s: 1e9 }, '1000000000'),
      badLimit({ rate_per_s: 'fast' }, '"fast"'),
      badLimit({ rate_per_s: null }, 'null'),
    ],
    [
      'take_tokens',
      'burst',
      take,
      badLimit({ burst: 0 }, '0'),
      badLimit({ burst: 1.5 }, '1.5'),
      badLimit({ burst: 1e9 }, '1000000000'),
      badLimit({ burst: '5' }, '"5"'),
    ],
    ['prune_rate_limits', 'limit', 'prune_rate_limits($1)', [null], [0], [10_001]],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('what was refused', () => {
  it('OPS-8 has left no breaker, queue or limit behind', async () => {
    const { rows } = await bench.client.query(
      `select (select count(*) from unstuck.breakers)::int as breakers,
              (select count(*) from unstuck.dependencies)::int as dependencies,
              (select count(*) from unstuck.pauses)::int as pauses,
              (select count(*) from unstuck.rate_limits)::int as rate_limits`,
    )
    expect(rows).toEqual([{ breakers: 0, dependencies: 0, pauses: 0, rate_limits: 0 }])
  })
})
