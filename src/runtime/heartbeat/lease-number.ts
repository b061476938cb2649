import { createHash } from 'node:crypto'

/** The number by which a hint names the holder of a lease, as send_cancel_hint.sql draws it. Nobody can find the lease by it. */
export function leaseNumber(leaseId: string): number {
  return createHash('md5').update(leaseId).digest().readInt32BE(0)
}
