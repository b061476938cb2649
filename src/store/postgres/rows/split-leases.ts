import type { Lease } from '../../../job/lease.ts'
import type { IdType } from '../../../profile/profile.ts'

export type SplitLeases = [ids: string | string[], leaseIds: string]

/** Ids and lease ids as two arrays, so that one prepared text serves any number of leases. */
export function splitLeases(leases: Lease[], idType: IdType): SplitLeases {
  const ids = leases.map(({ jobId }) => jobId)
  const leaseIds = plainArray(leases.map(({ leaseId }) => leaseId))
  return [idType === 'text' ? ids : plainArray(ids), leaseIds]
}

/** Array literal; uuids and numbers need no quoting. The driver's quoting makes a tenth of a short job's allocations. */
function plainArray(texts: string[]): string {
  return `{${texts.join(',')}}`
}
