import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Bad,
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
