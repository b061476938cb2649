import { describe, expect, it } from 'vitest'
import { nextRun } from './next-run.ts'

const utc = (text: string) => new Date(`${text}Z`)

/** The next occurrences, one after another, in UTC without seconds. */
function runs(cron: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = []
  let last: Date | null = utc(after)
  while (found.length < count && last !== null) {
    last = nextRun(cron, timezone, last)
    if (last !== null) found.push(last.toISOString().slice(0, 16))
  }
  return found
}

describe('the next occurrence', () => {
  it('WORK-7 is later than the given moment, to the millisecond', () => {
    expect(nextRun('0 3 * * *', 'UTC', utc('2026-01-01T02:59:59.999'))).toEqual(utc('2026-01-01T03:00:00'))
    expect(nextRun('0 3 * * *', 'UTC', utc('2026-01-01T03:00:00.000'))).toEqual(utc('2026-01-02T03:00:00'))
    expect(nextRun('0 3 * * *', 'UTC', utc('2026-01-01T03:00:00.001'))).toEqual(utc('2026-01-02T03:00:00'))
  })

  it('WORK-7 is that of the zone, not of this machine', () => {
    expect(runs('0 3 * * *', 'Europe/Berlin', '2026-01-01T00:00', 1)).toEqual(['2026-01-01T02:00'])
    expect(runs('0 3 * * *', 'Asia/Kathmandu', '2026-01-01T00:00', 1)).toEqual(['2026-01-01T21:15'])
  })

  it('WORK-7 may be every few seconds', () => {
    expect(nextRun('*/5 * * * * *', 'UTC', utc('2026-01-01T00:00:01'))).toEqual(utc('2026-01-01T00:00:05'))
  })

  it('WORK-7 a 29th of February comes in leap years only', () => {
    expect(runs('0 0 29 2 *', 'UTC', '2026-01-01T00:00', 2)).toEqual(['2028-02-29T00:00', '2032-02-29T00:00'])
    expect(runs('0 0 29 2 *', 'UTC', '2097-01-01T00:00', 1)).toEqual(['2104-02-29T00:00'])
  })

  it('WORK-7 L is the last day of a month, 5L its last Friday, and MON#2 its second Monday', () => {
    expect(runs('0 0 L * *', 'UTC', '2026-01-31T00:00', 3)).toEqual([
      '2026-02-28T00:00',
      '2026-03-31T00:00',
      '2026-04-30T00:00',
    ])
    expect(runs('0 0 * * 5L', 'UTC', '2026-01-31T00:00', 1)).toEqual(['2026-02-27T00:00'])
    expect(runs('0 0 * * MON#2', 'UTC', '2026-01-31T00:00', 1)).toEqual(['2026-02-09T00:00'])
  })

  it('WORK-7 either is enough where a day of month and a day of week are given', () => {
    expect(runs('0 0 15 * MON', 'UTC', '2026-01-06T00:00', 2)).toEqual([
      '2026-01-12T00:00',
      '2026-01-15T00:00',
    ])
  })

  it('WORK-7 is null where none is left, and where there never is one', () => {
    expect(nextRun('0 0 0 1 1 * 2027', 'UTC', utc('2026-06-01T00:00'))).toEqual(utc('2027-01-01T00:00'))
    expect(nextRun('0 0 0 1 1 * 2027', 'UTC', utc('2027-01-01T00:00'))).toBeNull()
    expect(nextRun('0 0 30 2 *', 'UTC', utc('2026-01-01T00:00'))).toBeNull()
  })
})

describe('the change of clocks', () => {
  it('WORK-7 a time that is skipped in spring runs at the end of the gap, once', () => {
    expect(runs('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ])
  })

  it('WORK-7 a time that comes twice in autumn runs at its first coming only', () => {
    expect(runs('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
  })

  it('WORK-7 what runs every half hour goes on doing so through both', () => {
    expect(runs('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:00', 4)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:00',
      '2026-03-29T01:30',
      '2026-03-29T02:00',
    ])
    expect(runs('*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:30', 5)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-25T02:00',
    ])
  })
})

describe('what is refused', () => {
  const now = utc('2026-01-01T00:00')

  it.each(['', 'nightly', '61 * * * *', '* * * *', '* * * * * * * *', '@reboot', '2030-01-01T00:00:00'])(
    'OPS-8 %j is not a cron',
    (cron) => {
      expect(() => nextRun(cron, 'UTC', now)).toThrow(
        expect.objectContaining({
          code: 'INVALID_ARGUMENT',
          message: expect.stringContaining(`cron: got ${JSON.stringify(cron)}, takes five fields`) as unknown,
        }),
      )
    },
  )

  it.each(['', 'Mars/Olympus', 'Berlin'])('OPS-8 %j is not a time zone', (timezone) => {
    expect(() => nextRun('* * * * *', timezone, now)).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`timezone: got ${JSON.stringify(timezone)}`) as unknown,
      }),
    )
  })
})
