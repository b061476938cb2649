// The leases that the heartbeat thread extends, as the messages of the worker list them. Most claims of short jobs end before the
// next heartbeat: their ids are never taken apart.
import type { Lease } from '../../job/lease.ts'
import { ALL, JOB_ID_SEPARATOR, type LeaseList } from './lease-changes.ts'

interface Claim {
  jobIds: Set<string>
  /** Changes since the last heartbeat, the oldest first. */
  unread: { isHeld: boolean; jobIds: string }[]
}

export class HeldClaims {
  readonly #byLeaseId = new Map<string, Claim>()

  /** A job may be claimed and end between two messages: what was taken comes before what was dropped. */
  change(taken: LeaseList, dropped: LeaseList): void {
    for (const [leaseId, jobIds] of taken) {
      const claim = this.#byLeaseId.get(leaseId) ?? { jobIds: new Set(), unread: [] }
      this.#byLeaseId.set(leaseId, claim)
      claim.unread.push({ isHeld: true, jobIds })
    }
    for (const [leaseId, jobIds] of dropped) {
      if (jobIds === ALL) this.#byLeaseId.delete(leaseId)
      else this.#byLeaseId.get(leaseId)?.unread.push({ isHeld: false, jobIds })
    }
  }

  drop({ leaseId, jobId }: Lease): void {
    this.change([], [[leaseId, jobId]])
  }

  list(): Lease[] {
    const leases: Lease[] = []
    for (const [leaseId, claim] of this.#byLeaseId) {
      read(claim)
      if (claim.jobIds.size === 0) this.#byLeaseId.delete(leaseId)
      for (const jobId of claim.jobIds) leases.push({ jobId, leaseId })
    }
    return leases
  }
}

function read(claim: Claim): void {
  for (const { isHeld, jobIds } of claim.unread)
    for (const jobId of jobIds.split(JOB_ID_SEPARATOR)) {
      if (isHeld) claim.jobIds.add(jobId)
      else claim.jobIds.delete(jobId)
    }
  claim.unread = []
}
