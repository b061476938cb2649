// Seeded random numbers (mulberry32): the same seed gives the same faults at the same times.

/** Returns a generator of numbers in [0, 1). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function between(random: () => number, least: number, most: number) {
  return Math.round(least + random() * (most - least))
}

export function pickWeighted<T>(random: () => number, choices: readonly { weight: number; value: T }[]): T {
  let left = random() * choices.reduce((sum, { weight }) => sum + weight, 0)
  for (const { weight, value } of choices) {
    left -= weight
    if (left < 0) return value
  }
  const last = choices.at(-1)
  if (last === undefined) throw new Error('nothing to choose from')
  return last.value
}
