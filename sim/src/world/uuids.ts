/** Odd, so that every number below 2³² has its own product. */
const SPREAD = 0x9e3779b1

/** Ids in the form of uuid v4, all different, in no order. */
export function uuids(seed: number): () => string {
  const run = hex(seed >>> 0)
  let count = 0
  return () => {
    const id = hex(Math.imul(++count, SPREAD) >>> 0)
    return `${id}-${run.slice(0, 4)}-4000-8000-${run.slice(4)}${id}`
  }
}

const hex = (number: number) => number.toString(16).padStart(8, '0')
