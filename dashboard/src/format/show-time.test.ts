import { describe, expect, it } from 'vitest'
import { shortId, showAgo, showDuration, showTime } from './show-time.ts'

describe('times as text', () => {
  it.each([
    [0, '0.0 s'],
    [9_940, '9.9 s'],
    [59_600, '60 s'],
    [192_000, '3 min 12 s'],
    [86_400_000, '24 h'],
    [90_060_000, '25 h 1 min'],
    [400_000_000, '5 d'],
    [-4_000, '4.0 s'],
  ])('SEE-5 %i ms are %s', (ms, text) => {
    expect(showDuration(ms)).toBe(text)
  })

  it('SEE-5 a time is shown as UTC, or by how long ago it was', () => {
    expect(showTime('2026-05-12T14:02:11.250Z', 'utc', 3_000)).toBe('2026-05-12 14:02:11Z')
    expect(showTime('2026-05-12T14:02:11.250Z', 'relative', 3_000)).toBe('3 s ago')
    expect(showAgo(-20_000)).toBe('in 20 s')
    expect(showAgo(194_000)).toBe('3 min ago')
    expect(showAgo(-400)).toBe('now')
  })

  it('SEE-5 an id is shortened in its middle, where the ids of one moment are alike', () => {
    expect(shortId('0198c1d4-6f0e-7c3a-9a51-3f4d2f6f2a10')).toBe('…3f4d2f6f2a10')
    expect(shortId('42')).toBe('42')
  })
})
