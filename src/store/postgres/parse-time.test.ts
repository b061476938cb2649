import fc from 'fast-check'
import pg from 'pg'
import { expect, it } from 'vitest'
import { parseTime } from './parse-time.ts'

const parseWithDriver = pg.types.getTypeParser(1184) as (text: string) => unknown

it('LEASE-2 a time is read as the driver reads it, in every zone and with any fraction', () => {
  const moment = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T00:00:00Z'),
    noInvalidDate: true,
  })
  const fraction = fc.integer({ min: 0, max: 999_999 }).map((us) => `.${us}`.padEnd(2, '0').slice(0, 7))
  const zone = fc.constantFrom('+00', '+02', '-07', '+05:30', '+00:19:32')
  const written = fc
    .tuple(moment, fc.option(fraction, { nil: '' }), zone)
    .map(([date, digits, offset]) => `${date.toISOString().slice(0, 19).replace('T', ' ')}${digits}${offset}`)
  fc.assert(
    fc.property(written, (text) => {
      expect(parseTime(text)).toEqual(parseWithDriver(text))
    }),
  )
})

it('LEASE-2 what is no common time is left to the driver', () => {
  for (const text of ['infinity', '-infinity', '0044-03-15 12:00:00+00 BC', '12345-01-01 00:00:00+00'])
    expect(parseTime(text)).toEqual(parseWithDriver(text))
})
