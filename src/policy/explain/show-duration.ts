/** A duration for people: `430 ms`, `29 s`, `12 min`, `5 h`, `3 d`. */
export function showDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`
}

/** The same for a bound: never rounded down, and in seconds up to a larger value, since `362 s` is not `6 min`. */
export function showBound(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  if (ms < 600_000) return `${Math.ceil(ms / 1_000)} s`
  if (ms < 36_000_000) return `${Math.ceil(ms / 60_000)} min`
  return ms < 864_000_000 ? `${Math.ceil(ms / 3_600_000)} h` : `${Math.ceil(ms / 86_400_000)} d`
}
