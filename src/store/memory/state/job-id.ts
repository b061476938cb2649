import { randomUUID } from 'node:crypto'

const MAX_SEQUENCE = 0xfff

/** Shard 0 after the variant, as in ids of PostgreSQL (docs/adr/0024). */
const VARIANT_AND_SHARD = '8000'

/** Ids in the form of uuid v7. Each sorts after the previous one, even within a millisecond or after a clock step back. */
export function createJobIds(createUuid: () => string = randomUUID): (nowMs: number) => string {
  let lastMs = 0
  let sequence = 0
  return (nowMs) => {
    if (nowMs > lastMs) {
      lastMs = Math.floor(nowMs)
      sequence = 0
    } else if (sequence < MAX_SEQUENCE) {
      sequence += 1
    } else {
      lastMs += 1
      sequence = 0
    }
    const time = lastMs.toString(16).padStart(12, '0')
    const order = sequence.toString(16).padStart(3, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${VARIANT_AND_SHARD}-${createUuid().slice(24)}`
  }
}
