// The functions of operations and causes, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRefusalBench, type RefusalBench, type Row, yearMs } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)
const operation = { action: 'discard', filter: { type: 'a' }, q: 'type:a' }
const bad = (fields: object, shown: string): [string, string] => [
  JSON.stringify({ ...operation, ...fields }),
  shown,
]
const id = '018f0000-0000-7000-8000-000000000009'
const begin = 'begin_operation($1)'
const step = (rest: string) => `step_operation('${id}', '${id}', ${rest})`

describe('operations', () => {
  it.each([
    ['begin_operation', 'operation', begin, [null], ['[]'], ['"x"']],
    ['begin_operation', 'action', begin, bad({ action: undefined }, 'NULL'), bad({ action: 'drop' }, 'drop')],
    [
      'begin_operation',
      'filter',
      begin,
      bad({ filter: undefined }, 'null'),
      bad({ filter: { shape: 1 } }, 'shape'),
    ],
    ['begin_operation', 'q', begin, bad({ q: undefined }, 'NULL'), bad({ q: '' }, '')],
    ['begin_operation', 'as_of', begin, bad({ as_of: 'now' }, 'now'), bad({ as_of: 5 }, '5')],
    ['begin_operation', 'reason', begin, bad({ reason: 'r'.repeat(501) }, 'r'.repeat(60))],
    ['begin_operation', 'keep_attempts', begin, bad({ keep_attempts: 'x' }, 'x')],
    ['begin_operation', 'is_plan', begin, bad({ is_plan: 'x' }, 'x')],
    ['begin_operation', 'canary', begin, bad({ canary: -1 }, '-1'), bad({ canary: 1.5 }, '1.5')],
    ['begin_operation', 'rate_per_s', begin, bad({ rate_per_s: 0 }, '0'), bad({ rate_per_s: 'x' }, 'x')],
    ['begin_operation', 'max_jobs', begin, bad({ max_jobs: 0 }, '0'), bad({ max_jobs: 100_001 }, '100001')],
    ['begin_operation', 'expect', begin, bad({ expect: -1 }, '-1')],
    ['begin_operation', 'lease_ms', begin, bad({ lease_ms: 0 }, '0')],
    ['step_operation', 'limit', step('$1'), [null], [-1], [1001]],
    ['step_operation', 'phase', step('0, $1'), ['x']],
    ['step_operation', 'lease_ms', step('0, null, $1'), [null], [0], [yearMs + 1]],
    ['take_operation', 'lease_ms', `take_operation('native', $1)`, [null], [0], [yearMs + 1]],
    ['end_operation', 'state', `end_operation('native', '${id}', '${id}', $1)`, [null], ['running']],
    ['list_operations', 'limit', `list_operations('native', null, null, $1)`, [null], [0], [1001]],
    ['list_operation_jobs', 'limit', `list_operation_jobs('native', '${id}', 0, $1)`, [null], [0], [1001]],
    ['mark_cause', 'cause_id', `mark_cause('native', $1, 'ignored')`, [null], ['']],
    ['mark_cause', 'state', `mark_cause('native', 'c', $1)`, [null], ['gone']],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)

  it('OPS-8 nothing is begun by a refused call', async () => {
    const { rows } = await bench.client.query('select count(*)::int as count from unstuck.operations')
    expect(rows).toEqual([{ count: 0 }])
  })
})
