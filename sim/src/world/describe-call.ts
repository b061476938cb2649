import type { ClaimedJob } from '../../../src/job/lease.ts'
import { leasesOf } from './sim-database.ts'

export const shortId = (jobId: string) => jobId.slice(-6)

/** A call and its answer, for the trace. */
export function describeCall(verb: string, args: unknown[], answer: unknown): string {
  if (verb === 'claimJobs')
    return `: ${(answer as ClaimedJob[]).map(({ jobId, type }) => `${type} ${shortId(jobId)}`).join(', ') || 'none'}`
  if (verb === 'heartbeatJobs')
    return `: ${(answer as { answers: { jobId: string; answer: string }[] }).answers.map(({ jobId, answer: each }) => `${shortId(jobId)} ${each}`).join(', ')}`
  if (verb === 'sweepJobs') {
    const { reaped, held } = answer as { reaped: { jobId: string; action: string }[]; held: number }
    return `: ${reaped.map(({ jobId, action }) => `${action} ${shortId(jobId)}`).join(', ') || 'nothing'}${held > 0 ? `, ${held} held` : ''}`
  }
  const leases = leasesOf(verb, args)
  const outcomes = answer as { outcome: string }[]
  return leases.length === 0
    ? ''
    : `: ${leases.map(({ jobId }, index) => `${shortId(jobId)} ${outcomes[index]?.outcome}`).join(', ')}`
}
