// The functions of dispatches, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRefusalBench, type RefusalBench, type Row, yearMs } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
  await bench.client.query(`
    insert into unstuck.dispatches (attachment, job_id, dispatch_id, next_try_at, created_at)
    select 'native', id::text, gen_random_uuid(), now(), now() from unstuck.jobs`)
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)
const ids = `array['a'], array[gen_random_uuid()]`

describe('dispatches', () => {
  it.each([
    ['take_dispatches', 'limit', 'take_dispatches($1)', [null], [0], [-1], [1_001]],
    ['take_dispatches', 'lease_ms', 'take_dispatches(1, $1)', [null], [0], [-1], [yearMs + 1]],
    [
      'finish_dispatches',
      'dispatches',
      `finish_dispatches('native', $1, array[gen_random_uuid()])`,
      [null, 'NULL job ids and 1 dispatch ids'],
      [[], '0 job ids and 1 dispatch ids'],
      [['a', 'b'], '2 job ids and 1 dispatch ids'],
      [[null], '1 job ids and 1 dispatch ids'],
      [[['a']], '1 job ids and 1 dispatch ids'],
    ],
    [
      'finish_dispatches',
      'dispatches',
      `finish_dispatches('native', array['a'], $1)`,
      [null, '1 job ids and NULL dispatch ids'],
      [[], '1 job ids and 0 dispatch ids'],
      [[null], '1 job ids and 1 dispatch ids'],
    ],
    [
      'fail_dispatches',
      'dispatches',
      `fail_dispatches('native', $1, array[gen_random_uuid()], array[1], 'down')`,
      [null, 'NULL job ids and 1 dispatch ids'],
      [['a', 'b'], '2 job ids and 1 dispatch ids'],
    ],
    ['fail_dispatches', 'tries', `fail_dispatches('native', ${ids}, $1, 'down')`, [null], [[null], '{NULL}']],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)

  it('OPS-8 refused calls took, finished and failed none', async () => {
    const { rows } = await bench.client.query(
      `select count(*)::int as kept, sum(tries)::int as tries, count(last_error)::int as errors
         from unstuck.dispatches`,
    )
    expect(rows).toEqual([{ kept: 4, tries: 0, errors: 0 }])
  })

  it('OPS-8 write_policy refuses another word for what is dispatched', async () => {
    const refused = bench.client.query(`select unstuck.write_policy('native', '{"dispatch": "all"}')`)
    await expect(refused).rejects.toMatchObject({
      code: 'UN001',
      message: 'dispatch: got "all", takes off or requeued',
    })
  })
})
