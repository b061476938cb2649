import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Bad, openRefusalBench, type RefusalBench, type Row, yearMs } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)

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
