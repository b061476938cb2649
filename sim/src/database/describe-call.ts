import type { ClaimedJob } from '../../../src/job/lease.ts'
import type { SweepStep } from '../../../src/store/job-store.ts'
import { leasesOf } from './leases-of.ts'

/** Verbs that are not worth a line of the trace. */
const quiet = new Set([
  'readPolicy',
  'reportWorker',
  'hasDueJobs',
  'watchBreakers',
  'connect',
  'identify',
  'preparePresence',
  'watchWorkers',
  'lookAtWorkers',
  'listen',
  'notify',
])

export const isQuiet = (verb: string) => quiet.has(verb)

export const shortId = (jobId: string) => jobId.slice(-6)

/** A call and its answer, for the trace. */
export function describeCall(verb: string, args: unknown[], answer: unknown): string {
  if (verb === 'claimJobs') {
    const jobs = answer as ClaimedJob[]
    return jobs.length === 0
      ? ': none'
      : `: ${jobs.map(({ jobId, type }) => `${type} ${shortId(jobId)}`).join(', ')}`
  }
  if (verb === 'heartbeatJobs')
    return `: ${(answer as { answers: { jobId: string; answer: string }[] }).answers.map(({ jobId, answer: each }) => `${shortId(jobId)} ${each}`).join(', ')}`
  if (verb === 'sweepJobs') {
    const { reaped, held } = answer as SweepStep
    if (reaped.length === 0 && held === 0) return ': nothing'
    const verdicts = reaped.map(({ jobId, action, reason }) => `${action} ${shortId(jobId)} (${reason})`)
    return `: ${verdicts.join(', ') || 'nothing'}${held > 0 ? `, ${held} held` : ''}`
  }
  const leases = leasesOf(verb, args)
  const outcomes = answer as { outcome: string }[]
  return leases.length === 0
    ? ''
    : `: ${leases.map(({ jobId }, index) => `${shortId(jobId)} ${outcomes[index]?.outcome}`).join(', ')}`
}
