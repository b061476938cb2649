import type { Lease } from '../../../src/job/lease.ts'

const leaseVerbs = new Set(['completeJobs', 'failJobs', 'releaseJobs', 'heartbeatJobs'])
const noLeases: readonly Lease[] = []

export function leasesOf(verb: string, args: unknown[]): readonly Lease[] {
  return leaseVerbs.has(verb) ? (args[0] as Lease[]) : noLeases
}
