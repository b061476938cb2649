// The functions of schedules, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bad, openRefusalBench, type RefusalBench, type Row } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const badTexts: Bad[] = [[null], [''], ['n'.repeat(201)]]
const noTimes: Bad[] = [[null], ['infinity'], ['-infinity']]
const write = `write_schedule('a', '0 3 * * *', 'UTC', $1, now())`

describe('schedules', () => {
  it.each([
    ['write_schedule', 'name', `write_schedule($1, '0 3 * * *', 'UTC', '{"type": "a"}', now())`, ...badTexts],
    ['write_schedule', 'cron', `write_schedule('a', $1, 'UTC', '{"type": "a"}', now())`, ...badTexts],
    [
      'write_schedule',
      'timezone',
      `write_schedule('a', '0 3 * * *', $1, '{"type": "a"}', now())`,
      ...badTexts,
    ],
    [
      'write_schedule',
      'next_run_at',
      `write_schedule('a', '0 3 * * *', 'UTC', '{"type": "a"}', $1)`,
      ...noTimes,
    ],
    [
      'write_schedule',
      'overlap',
      `write_schedule('a', '0 3 * * *', 'UTC', '{"type": "a"}', now(), $1)`,
      [null],
      [''],
      ['sometimes'],
    ],
    [
      'write_schedule',
      'job',
      write,
      [null, 'null'],
      ['[]'],
      ['7'],
      ['{"type": "a", "delay_ms": 5}', 'delay_ms'],
      ['{"type": "a", "run_at": "2030-01-31T10:00:00Z"}', 'run_at'],
      ['{"type": "a", "dedupe_key": "mine"}', 'dedupe_key'],
      ['{"type": "a", "colour": "red"}', 'colour'],
    ],
    ['write_schedule', 'type', write, ['{}', 'NULL'], ['{"type": ""}', '']],
    ['write_schedule', 'priority', write, ['{"type": "a", "priority": 0.5}', '0.5']],
    ['run_schedule', 'name', 'run_schedule($1, now(), null)', ...badTexts],
    ['run_schedule', 'due_at', `run_schedule('a', $1, null)`, ...noTimes],
    [
      'run_schedule',
      'next_run_at',
      `run_schedule('a', '2030-01-31T10:00:00Z', $1)`,
      ['infinity'],
      ['-infinity'],
      ['2030-01-31T10:00:00Z', '2030-01-31'],
      ['2030-01-31T09:59:59Z', '2030-01-31'],
      ['2030-01-31T10:00:00.0004Z', '2030-01-31'],
    ],
    ['delete_schedule', 'name', 'delete_schedule($1)', ...badTexts],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', (...row: Row) =>
    bench.expectRefusals(...row),
  )

  it('OPS-8 that were refused have left nothing behind', async () => {
    const { rows } = await bench.client.query('select * from unstuck.schedules')
    expect(rows).toEqual([])
  })

  it('WORK-7 take nulls for what is left out', async () => {
    const { rows } = await bench.client.query(
      `select outcome from unstuck.write_schedule('a', '0 3 * * *', 'UTC',
                '{"type": "a", "delay_ms": null, "run_at": null, "dedupe_key": null, "queue": null}', now() - interval '1 s') written,
              unstuck.run_schedule(written.name, written.next_run_at, null)`,
    )
    expect(rows).toEqual([{ outcome: 'enqueued' }])
  })

  it('OPS-8 an override of the policy is checked, and nothing was run', async () => {
    await bench.client.query(
      `select from unstuck.write_schedule('b', '0 3 * * *', 'UTC', '{"type": "b"}', '2020-01-01T00:00:00Z')`,
    )
    await bench.expectRefusals(
      'run_schedule',
      'max_attempts',
      `run_schedule('b', '2020-01-01T00:00:00Z', null, $1)`,
      ['{"max_attempts": 0}', '0'],
    )
    const { rows } = await bench.client.query(`select last_run_at from unstuck.schedules where name = 'b'`)
    expect(rows).toEqual([{ last_run_at: null }])
  })
})
