// I1 to I5, I9, I11, I12, I15, I20: judges each job by its events and its row.
import { POISON_MAX_ATTEMPTS } from '../settings.ts'
import type { History, JobRow, Violation } from './history.ts'
import type { Story } from './job-story.ts'

/** Times have milliseconds in events and microseconds in rows. */
const ROUNDING_MS = 1.001

export function checkTransitions(history: History, stories: Map<string, Story>): Violation[] {
  return history.jobs.flatMap((job) => {
    const story = stories.get(job.id)
    if (story === undefined) return [{ invariant: 'I3', message: `job ${job.id} has no event` }]
    const say = (invariant: string, message: string) => ({
      invariant,
      message: `job ${job.id} (${job.type}): ${message}`,
    })
    return [
      ...checkStory(job, story, say),
      ...checkClaims(story, say),
      ...checkBudgets(history, job, story, say),
      ...checkLeaseFields(job, say),
    ]
  })
}

export type Say = (invariant: string, message: string) => Violation

function* checkStory(job: JobRow, story: Story, say: Say) {
  const generations = story.completions.map(({ generation }) => generation)
  if (new Set(generations).size < generations.length) yield say('I1', `${generations.length} completions`)
  for (const message of story.stale) yield say('I2', message)
  if (story.state !== job.status) yield say('I3', `is ${job.status}, its events end in ${story.state}`)
  if (job.fence !== story.claims.length)
    yield say('I3', `fence ${job.fence} after ${story.claims.length} claims in its events`)
  for (const message of story.illegal) yield say('I4', message)
  const by = story.completions.at(-1)?.lease
  if (job.status === 'succeeded' && job.finishedLeaseId !== by)
    yield say('I2', `completed by lease ${job.finishedLeaseId}, held by ${by}`)
}

function* checkClaims({ claims }: Story, say: Say) {
  const leases = new Set(claims.map(({ lease }) => lease))
  if (leases.size < claims.length) yield say('I5', 'a lease id was granted twice')
  for (const [index, claim] of claims.entries()) {
    const before = claims[index - 1]
    if (before !== undefined && claim.fence <= before.fence)
      yield say('I5', `fence ${claim.fence} after ${before.fence}`)
    if (claim.at < claim.notBefore - ROUNDING_MS)
      yield say('I11', `claimed ${claim.notBefore - claim.at} ms before its time`)
  }
}

function* checkBudgets({ policy }: History, job: JobRow, story: Story, say: Say) {
  const expected =
    policy.attemptCountedAt === 'claim'
      ? Math.max(0, story.claims.length - story.releases)
      : Math.min(job.maxAttempts, story.counted)
  if (job.attempt !== expected) yield say('I9', `attempt ${job.attempt} instead of ${expected}`)
  if (policy.failureBudget === 'attempts' && job.attempt > job.maxAttempts)
    yield say('I9', `attempt ${job.attempt} of ${job.maxAttempts}`)
  if (policy.failureBudget === 'failures' && job.failures > job.maxAttempts)
    yield say('I9', `${job.failures} failures of ${job.maxAttempts}`)
  const isSpent = hasSpentBudget(policy, job)
  if (job.status === 'dead' && !isSpent) yield say('I20', 'is dead with budget left')
  if (job.type === 'poison' && job.status === 'succeeded') yield say('I12', 'a poison job succeeded')
  if (job.type === 'poison' && job.status === 'dead' && !isSpentExactly(policy, job))
    yield say('I12', `ended after ${job.failures} failures and ${job.attempt} attempts`)
}

function hasSpentBudget(
  policy: History['policy'],
  { attempt, failures, crashes, timeouts, maxAttempts }: JobRow,
) {
  const isFailed = (policy.failureBudget === 'failures' ? failures : attempt) >= maxAttempts
  const isReaped =
    policy.reapBudget === 'crashes' && (crashes >= policy.maxCrashes || timeouts >= policy.maxTimeouts)
  return isFailed || isReaped
}

function isSpentExactly(policy: History['policy'], { attempt, failures, crashes }: JobRow) {
  if (policy.failureBudget === 'attempts') return attempt === POISON_MAX_ATTEMPTS
  return failures === POISON_MAX_ATTEMPTS || crashes === policy.maxCrashes
}

function* checkLeaseFields({ status, leaseId, leaseExpiresAt }: JobRow, say: Say) {
  const isRunning = status === 'running'
  if (isRunning !== (leaseId !== null) || isRunning !== (leaseExpiresAt !== null))
    yield say('I15', `is ${status} with lease ${leaseId} until ${leaseExpiresAt}`)
}
