/** How often a property of the runtime is tried, and from which seed: `npm run test:properties` sets both. */
export function propertyRuns(): { numRuns: number; seed?: number } {
  const seed = process.env['UNSTUCK_PROPERTY_SEED']
  const numRuns = Number(process.env['UNSTUCK_PROPERTY_RUNS'] ?? 200)
  return { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) }
}
