/** Exact duration in common units: `2 s`, `6 min 32 s`, `1 h`. */
export function showTime(ms: number): string {
  if (ms < 1_000) return ms === 0 ? 'at once' : `${Math.round(ms)} ms`
  const parts: string[] = []
  let left = Math.round(ms / 100) / 10
  for (const [unit, seconds] of [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
  ] as const) {
    const count = Math.floor(left / seconds)
    if (count > 0) parts.push(`${count} ${unit}`)
    left -= count * seconds
  }
  const rest = Number(left.toFixed(1))
  if (rest > 0 || parts.length === 0) parts.push(`${rest} s`)
  return parts.join(' ')
}
