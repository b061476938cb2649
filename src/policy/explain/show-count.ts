/** `≥ 100,000` if the count stopped at its limit. */
export function showCount<Name extends string>(
  counts: Record<Name, number> & { atLeast: readonly string[] },
  name: Name,
): string {
  return counts.atLeast.includes(name) ? `≥ ${counts[name].toLocaleString('en')}` : String(counts[name])
}
