import { describe, expect, it } from 'vitest'
import { type PhaseReport, phaseAt, summarisePhases } from '../../../chaos/src/scenarios/soak-report.ts'

const DURATION_MS = 30_000
const readingsAt = (...seconds: number[]) =>
  seconds.map((atS) => ({
    atS,
    phase: phaseAt(atS * 1_000, DURATION_MS),
    deadTuples: 10 + 2 * atS,
    tableBytes: 8_192,
    indexBytes: 8_192,
    unfinished: 0,
    workerBytes: Number.NaN,
    reaperBytes: Number.NaN,
  }))
const slopeOf = (report: PhaseReport | undefined, measure: string) =>
  report?.slopes.find((slope) => slope.measure === measure)

describe('the report of a soak', () => {
  it('has the last value and the slope of each third', () => {
    const ledger = [0, 5_000, 12_000].map((at) => ({
      kind: 'claimed',
      at: 1_000_000 + at,
      worker: 'w1-1',
      pid: 1,
      ms: 4,
    }))
    const readings = readingsAt(0, 3, 6, 9, 12, 15, 18)
    const [before, pinned] = summarisePhases({ readings, ledger, durationMs: DURATION_MS })
    expect(before).toMatchObject({ phase: 'before', claims: 2, claimP99Ms: 4 })
    expect(slopeOf(before, 'deadTuples')).toEqual({ measure: 'deadTuples', last: 28, perMinute: 120 })
    expect(slopeOf(pinned, 'tableBytes')).toEqual({ measure: 'tableBytes', last: 8_192, perMinute: 0 })
    expect(before).not.toHaveProperty('unknown')
  })

  it('knows no slope of two readings, nor of what nobody measured, and says so', () => {
    const readings = readingsAt(0, 3, 6, 12, 15)
    const reports = summarisePhases({ readings, ledger: [], durationMs: DURATION_MS })
    expect(slopeOf(reports[0], 'workerBytes')).toEqual({
      measure: 'workerBytes',
      last: null,
      perMinute: null,
    })
    expect(reports[1]).toMatchObject({ unknown: '2 readings have no slope', claimP99Ms: null })
    expect(slopeOf(reports[1], 'deadTuples')).toMatchObject({ last: 40, perMinute: null })
    expect(reports[2]).toMatchObject({ phase: 'after', claims: 0, unknown: '0 readings have no slope' })
  })
})
