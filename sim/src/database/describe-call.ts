import type { ClaimedJob } from '../../../src/job/lease.ts'
import type { DependencyCall } from '../../../src/policy/dependency/breaker.ts'
import type { TokenGrant } from '../../../src/policy/dependency/rate-limit.ts'
import type { Breaker, ScheduleRun, SweepStep } from '../../../src/store/job-store.ts'
import type { Occurrence } from '../../../src/store/ports/schedule-store.ts'
import { leasesOf } from './leases-of.ts'

/** Verbs that are not worth a line of the trace. */
const quiet = new Set([
  'readPolicy',
  'reportWorker',
  'hasDueJobs',
  'listBreakers',
  'listSchedules',
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

function describeReport({ jobId = '', isFailure, limitedMs }: DependencyCall): string {
  const result = isFailure === undefined ? 'no call' : isFailure ? 'failed' : 'ok'
  return `${shortId(jobId)} ${result}${limitedMs === undefined ? '' : ' and limited'}`
}

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
  if (verb === 'recordCalls') {
    const calls = (args[1] as DependencyCall[]).map(describeReport)
    return `: ${calls.join(', ')}, ${(answer as Breaker).state}`
  }
  if (verb === 'runSchedule') {
    const { dueAt } = args[1] as Occurrence
    return `: ${String(args[0])} of ${dueAt.toISOString()}, ${(answer as ScheduleRun).outcome}`
  }
  if (verb === 'recordProbe') return `: ${args[1] === true ? 'good' : 'bad'}, ${(answer as Breaker).state}`
  if (verb === 'takeTokens')
    return `: ${(answer as TokenGrant).granted} of ${(args[1] as number | undefined) ?? 1}`
  const leases = leasesOf(verb, args)
  const outcomes = answer as { outcome: string }[]
  return leases.length === 0
    ? ''
    : `: ${leases.map(({ jobId }, index) => `${shortId(jobId)} ${outcomes[index]?.outcome}`).join(', ')}`
}
