export interface Spread {
  median: number
  min: number
  max: number
  /** In the order of the repetitions. */
  runs: number[]
}

export function spreadOf(runs: number[]): Spread {
  return { median: percentile(runs, 0.5), min: Math.min(...runs), max: Math.max(...runs), runs }
}

/** The mean of the two nearest values if it falls between them. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
