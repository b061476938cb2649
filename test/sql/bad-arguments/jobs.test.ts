// Every public function, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bad, badJob, heldId, openRefusalBench, type RefusalBench, type Row } from './refusal.ts'

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
    [
      'enqueue_jobs',
      'backoff_steps_ms',
      enqueue,
      badJob({ backoff_steps_ms: [] }, '[]'),
      badJob({ backoff_steps_ms: 5 }, '5'),
      badJob({ backoff_steps_ms: [-1] }, '[-1]'),
      badJob({ backoff_steps_ms: [1.5] }, '[1.5]'),
      badJob({ backoff_steps_ms: ['1'] }, '["1"]'),
      badJob({ backoff_steps_ms: [31_536_000_001] }, '[31536000001]'),
      badJob({ backoff_steps_ms: [null] }, '[null]'),
    ],
    [
      'enqueue_jobs',
      'ttl_ms',
      enqueue,
      badJob({ ttl_ms: -1 }, '-1'),
      badJob({ ttl_ms: 1e12 }, '1000000000000'),
      badJob({ ttl_ms: 'soon' }, 'soon'),
      badJob({ ttl_ms: 5_000, delay_ms: 5_000 }, '5000, takes more than delay_ms'),
    ],
    [
      'enqueue_jobs',
      'expires_at',
      enqueue,
      badJob({ ttl_ms: 1, expires_at: '2030-01-01T00:00:00Z' }, 'a time beside ttl_ms'),
      badJob({ expires_at: 'tomorrow' }, 'tomorrow'),
      badJob({ expires_at: '2030-02-31T10:00Z' }, '2030-02-31T10:00Z'),
      badJob(
        { expires_at: '2030-01-31T10:00Z', run_at: '2030-01-31T11:00+01:00' },
        '2030-01-31T10:00Z, takes a time',
      ),
    ],
    [
      'enqueue_jobs',
      'dedupe_for_ms',
      enqueue,
      badJob({ dedupe_key: 'k', dedupe_for_ms: 0 }, '0'),
      badJob({ dedupe_key: 'k', dedupe_for_ms: 1e12 }, '1000000000000'),
      badJob({ dedupe_key: 'k', dedupe_for_ms: 'long' }, 'long'),
    ],
    [
      'enqueue_jobs',
      'dedupe_key',
      enqueue,
      badJob({ dedupe_for_ms: 5 }, 'none'),
      badJob({ dedupe_replace: true }, 'none'),
    ],
    [
      'enqueue_jobs',
      'dedupe_replace',
      enqueue,
      badJob({ dedupe_key: 'k', dedupe_replace: 'yes' }, 'yes'),
      badJob({ dedupe_key: 'k', dedupe_replace: true, dedupe_for_ms: 5 }, 'true beside dedupe_for_ms'),
    ],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)

  it.each([
    { delay_ms: 'tiny' },
    { backoff_steps_ms: Array.from({ length: 100 }, () => 31_536_000_000), ttl_ms: 0 },
    { ttl_ms: null, backoff_steps_ms: null, expires_at: null, dedupe_for_ms: null, dedupe_replace: null },
    {
      dedupe_key: 'k',
      dedupe_for_ms: 31_536_000_000,
      expires_at: '2030-01-31T10:00Z',
      dedupe_replace: false,
    },
    { run_at: '2030-01-31T10:00Z' },
    { run_at: '2030-01-31T10:00Z', ttl_ms: 5_000 },
    { ttl_ms: 5_001, delay_ms: 5_000 },
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
