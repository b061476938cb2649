// The functions of workers, rescues and webhooks, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRefusalBench, type RefusalBench, type Row, yearMs } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)
const report = { worker_id: 'w', phase: 'running', types: ['a'], concurrency: 1, running: 0, report_ms: 1 }
const bad = (fields: object, shown: string): [string, string] => [
  JSON.stringify({ ...report, ...fields }),
  shown,
]
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('workers and rescues', () => {
  it.each([
    ['report_worker', 'report', `report_worker('native', $1)`, [null], ['[]'], ['"w"']],
    [
      'report_worker',
      'worker_id',
      `report_worker('native', $1)`,
      bad({ worker_id: undefined }, 'NULL'),
      bad({ worker_id: '' }, ''),
      bad({ worker_id: 7 }, '7'),
    ],
    ['report_worker', 'phase', `report_worker('native', $1)`, bad({ phase: 'idle' }, 'idle')],
    [
      'report_worker',
      'types',
      `report_worker('native', $1)`,
      bad({ types: 'a' }, 'a'),
      bad({ types: [1] }, '[1]'),
    ],
    [
      'report_worker',
      'concurrency',
      `report_worker('native', $1)`,
      bad({ concurrency: -1 }, '-1'),
      bad({ concurrency: 1.5 }, '1.5'),
    ],
    ['report_worker', 'running', `report_worker('native', $1)`, bad({ running: null }, 'NULL')],
    ['report_worker', 'report_ms', `report_worker('native', $1)`, bad({ report_ms: 0 }, '0')],
    ['drain_worker', 'worker_id', `drain_worker('native', $1)`, [null], ['']],
    ['read_slo', 'window_ms', 'read_slo($1)', [null], [0], [yearMs + 1]],
    ['read_slo', 'poll_ms', 'read_slo(1, $1)', [null], [-1]],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('webhooks', () => {
  it.each([
    [
      'add_webhook',
      'url',
      `add_webhook('native', $1, '${secret}')`,
      [null],
      ['example.com'],
      ['https://a:b@example.com/'],
      ['https://exa mple.com/'],
    ],
    [
      'add_webhook',
      'secret',
      `add_webhook('native', 'https://example.com', $1)`,
      [null, 'something else'],
      ['hunter2', 'something else'],
    ],
    [
      'add_webhook',
      'events',
      `add_webhook('native', 'https://example.com', '${secret}', $1)`,
      [null],
      [[null], '{NULL}'],
      [[''], '{""}'],
    ],
    ['take_deliveries', 'limit', `take_deliveries('native', $1)`, [null], [0], [1_001]],
    ['take_deliveries', 'lease_ms', `take_deliveries('native', 1, $1)`, [null], [0], [yearMs + 1]],
    ['settle_delivery', 'is_delivered', `settle_delivery('native', gen_random_uuid(), 1, $1)`, [null]],
    ['list_deliveries', 'limit', `list_deliveries('native', null, null, $1)`, [null], [0], [1_001]],
    ['list_deliveries', 'status', `list_deliveries('native', null, $1)`, ['lost']],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)

  it('OPS-8 refused calls left nothing behind', async () => {
    const { rows } = await bench.client.query(
      `select (select count(*) from unstuck.workers)::int as workers, (select count(*) from unstuck.webhooks)::int as webhooks`,
    )
    expect(rows).toEqual([{ workers: 0, webhooks: 0 }])
  })
})
