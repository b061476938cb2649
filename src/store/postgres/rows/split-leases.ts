import type { Lease } from '../../../job/lease.ts'
import type { IdType } from '../../../profile/profile.ts'

export type SplitLeases = [ids: string | string[], leaseIds: string]

/** Ids and lease ids as two arrays: one statement for all, whatever their number. */
export function splitLeases(leases: Lease[], idType: IdType): SplitLeases {
  const ids = leases.map(({ jobId }) => jobId)
  const leaseIds = plainArray(leases.map(({ leaseId }) => leaseId))
  return [idType === 'text' ? ids : plainArray(ids), leaseIds]
}

/** Of texts without a character that needs quotes. The driver quotes each of them: a tenth of what a short job allocates. */
function plainArray(texts: string[]): string {
  return `{${texts.join(',')}}`
}
