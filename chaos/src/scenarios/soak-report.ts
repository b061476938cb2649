// The report of a soak, by thirds. Pure, so that tests can pass made-up readings.
import type { LedgerLine } from '../judge/history.ts'

export type Phase = (typeof PHASES)[number]
export type Measure = (typeof measures)[number]
export type Reading = { atS: number; phase: Phase } & Record<Measure, number>
export type Slope = { measure: Measure; last: number | null; perMinute: number | null }
export type PhaseReport = {
  phase: Phase
  claims: number
  claimP99Ms: number | null
  slopes: Slope[]
  unknown?: string
}

const measures = [
  'deadTuples',
  'tableBytes',
  'indexBytes',
  'unfinished',
  'workerBytes',
  'reaperBytes',
] as const
const PHASES = ['before', 'pinned', 'after'] as const
/** Two points always fit a line. */
const LEAST_READINGS = 3

export function phaseAt(atMs: number, durationMs: number): Phase {
  return PHASES[Math.min(2, Math.floor((3 * atMs) / durationMs))] ?? 'after'
}

export function summarisePhases({
  readings,
  ledger,
  durationMs,
}: {
  readings: Reading[]
  ledger: LedgerLine[]
  durationMs: number
}): PhaseReport[] {
  const first = ledger[0]?.at ?? 0
  return PHASES.map((phase) => {
    const own = readings.filter((reading) => reading.phase === phase)
    const claims = ledger.flatMap(({ kind, at, ms }) =>
      kind === 'claimed' && ms !== undefined && phaseAt(at - first, durationMs) === phase ? [ms] : [],
    )
    const slopes = measures.map((measure) => ({
      measure,
      last: finite(own.at(-1)?.[measure]),
      perMinute: own.length < LEAST_READINGS ? null : finite(60 * slopeOf(own, measure)),
    }))
    return {
      phase,
      claims: claims.length,
      claimP99Ms: percentile(claims, 0.99),
      slopes,
      ...(own.length < LEAST_READINGS ? { unknown: `${own.length} readings have no slope` } : {}),
    }
  })
}

/** Null for NaN, which stands for an unknown value. */
function finite(number: number | undefined) {
  return number !== undefined && Number.isFinite(number) ? Math.round(number) : null
}

/** Least squares, per second. */
function slopeOf(readings: Reading[], measure: Measure) {
  const count = readings.length
  const meanX = readings.reduce((sum, { atS }) => sum + atS, 0) / count
  const meanY = readings.reduce((sum, reading) => sum + reading[measure], 0) / count
  const over = readings.reduce((sum, reading) => sum + (reading.atS - meanX) * (reading[measure] - meanY), 0)
  return over / readings.reduce((sum, { atS }) => sum + (atS - meanX) ** 2, 0)
}

function percentile(numbers: number[], share: number) {
  const found = numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)]
  return found === undefined ? null : Math.round(found * 10) / 10
}
