import { describe, expect, it } from 'vitest'
import type { Trend } from '../../../src/http/contract/index.ts'
import { countedAfterMs, countedUntil, failureRate, lineOf, trendRows } from './trends.ts'

const NOW = Date.parse('2026-05-12T14:03:20Z')

const trend = (at: string, more: Partial<Trend> = {}): Trend => ({
  table: 'jobs',
  at: `2026-05-12T${at}Z`,
  queue: 'mail',
  type: 'mail',
  enqueued: 0,
  completed: 0,
  failed: 0,
  rescued: 0,
  wait_p50_ms: null,
  wait_p95_ms: null,
  run_p50_ms: null,
  run_p95_ms: null,
  is_bounded: false,
  ...more,
})

describe('trends', () => {
  it('SEE-9 a line has a value for every whole minute, and none for the minute of now', () => {
    const rows = [
      trend('14:03:00', { completed: 99 }),
      trend('14:02:00', { completed: 4 }),
      trend('14:02:00', { completed: 1, queue: 'asr', type: 'asr' }),
      trend('13:03:00', { completed: 7 }),
      trend('13:02:00', { completed: 50 }),
    ]
    const line = lineOf(rows, 'completed', '1h', NOW)
    expect(line).toHaveLength(60)
    expect([line[0], line[58], line[59]]).toEqual([7, 0, 5])
  })

  it('SEE-9 a minute counts only after the processes have written it', () => {
    const rows = [trend('14:02:00', { rescued: 4 }), trend('14:01:00', { rescued: 2 })]
    const counted = NOW - countedAfterMs([])
    const justBefore = counted - 11_000
    expect(new Date(countedUntil('minute', justBefore)).toISOString()).toBe('2026-05-12T14:02:00.000Z')
    expect(lineOf(rows, 'rescued', '1h', justBefore).at(-1)).toBe(2)
    expect(new Date(countedUntil('minute', counted)).toISOString()).toBe('2026-05-12T14:03:00.000Z')
    expect(lineOf(rows, 'rescued', '1h', counted).at(-1)).toBe(4)
  })

  it('SEE-7 SEE-9 a minute counts only after a sweep has counted its rows', () => {
    const rows = [trend('14:02:00', { enqueued: 4 }), trend('14:01:00', { enqueued: 2 })]
    const last = (sweepIntervalsMs: number[]) =>
      lineOf(rows, 'enqueued', '1h', NOW - countedAfterMs(sweepIntervalsMs)).at(-1)
    expect([last([10_000]), last([10_000, 60_000])]).toEqual([4, 2])
  })

  it('SEE-9 each total of the server has the line of its own queue and type', () => {
    const totals = [
      trend('13:03:00', { completed: 90, queue: 'asr', type: 'asr', run_p95_ms: 200 }),
      trend('13:03:00', { completed: 8 }),
    ]
    const spans = [
      trend('14:01:00', { completed: 3 }),
      trend('14:02:00', { completed: 5 }),
      trend('14:02:00', { completed: 90, queue: 'asr', type: 'asr' }),
    ]
    const [asr, mail] = trendRows(totals, spans, '1h', NOW)
    expect(asr?.total.run_p95_ms).toBe(200)
    expect(asr?.line.slice(-2)).toEqual([0, 90])
    expect(mail?.line.slice(-2)).toEqual([3, 5])
    expect(trendRows(totals, [], '1h', NOW)[1]?.line).toHaveLength(60)
  })

  it('SEE-9 without attempts there is no failure rate', () => {
    expect(failureRate({ completed: 0, failed: 0 })).toBeNull()
    expect(failureRate({ completed: 3, failed: 1 })).toBe(25)
  })
})
