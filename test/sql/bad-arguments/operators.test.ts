// The functions for people, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Bad, openRefusalBench, type RefusalBench, type Row } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)
const list = 'list_jobs($1::jsonb)'
const badFilter = (fields: object, shown: string): Bad => [JSON.stringify({ type: 'a', ...fields }), shown]
const badLists: Bad[] = [[null], ['{NULL}']]

describe('looking', () => {
  it.each([
    ['list_jobs', 'filter', list, [null], ['[]'], ['7'], badFilter({ kind: 'x' }, 'kind')],
    ['list_jobs', 'type', list, badFilter({ type: 7 }, '7'), badFilter({ type: null }, 'null')],
    ['list_jobs', 'owner', list, badFilter({ owner: {} }, '{}')],
    [
      'list_jobs',
      'status',
      list,
      badFilter({ status: 'stuck' }, '"stuck"'),
      badFilter({ status: null }, 'null'),
    ],
    ['list_jobs', 'is_overdue', list, badFilter({ is_overdue: 'yes' }, '"yes"')],
    ['list_jobs', 'older_than_ms', list, badFilter({ older_than_ms: -1 }, '-1')],
    ['list_jobs', 'younger_than_ms', list, badFilter({ younger_than_ms: '1' }, '"1"')],
    ['list_jobs', 'limit', `list_jobs('{}', $1)`, [null], [0], [1001]],
    ['list_jobs', 'with_payload', `list_jobs('{}', 1, null, $1)`, [null]],
    ['group_dead_jobs', 'limit', 'group_dead_jobs($1)', [null], [0], [1001]],
    ['find_job_ids', 'prefix', 'find_job_ids($1)', [null], [''], ['a'.repeat(201)]],
    ['find_job_ids', 'limit', `find_job_ids('a', $1)`, [null], [0], [101]],
    ['explain_job', 'id', 'explain_job($1)', [null]],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('acting', () => {
  it.each([
    ['discard_jobs', 'ids', 'discard_jobs($1)', ...badLists],
    ['run_jobs_now', 'ids', 'run_jobs_now($1)', ...badLists],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})
