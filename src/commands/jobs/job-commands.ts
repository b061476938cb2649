// Reads and changes of single jobs.
import { UnstuckError } from '../../errors/index.ts'
import type { JobEvent } from '../../job/event.ts'
import type { Job, NewJob } from '../../job/job.ts'
import type { EnqueueOutcome } from '../../job/outcome.ts'
import { codeForOwner, reasonForOwner } from '../../observe/for-owner.ts'
import { type Explanation, explainJob as explainFacts } from '../../policy/explain/explain-job.ts'
import type { JobFacts } from '../../policy/explain/job-facts.ts'
import type { AgeRule } from '../../policy/lease/age-rule.ts'
import { withOverride } from '../../policy/policy.ts'
import { ageRuleOf } from '../../profile/age-rule-of.ts'
import type { JobFilter, JobPage } from '../../store/job-store.ts'
import {
  type CommandContext,
  type CommandTable,
  command,
  done,
  type FoundJob,
  findJob,
  findTable,
  type JobRef,
  jobNotFound,
  manualOptions,
  policyOf,
  refused,
} from '../command.ts'
import { given } from '../given.ts'
import { fillPage } from './fill-page.ts'

export interface ListJobsInput {
  filter: JobFilter
  limit: number
  cursor?: string | undefined
  table?: string | undefined
  withPayload?: boolean
}

/** Bounds one request: a rare filter over millions of rows becomes many short ones. */
const LIST_STEPS = 5

/** Payloads need the scope `jobs:payload`. A page may have fewer jobs than `limit`, even none, and still a next. */
export const listJobs = command(
  'listJobs',
  async (context, { filter, limit, cursor, table: name, withPayload = false }: ListJobsInput) => {
    const { owner, scopes } = context.actor
    const table = findTable(context, name)
    if (!table.isDone) return table
    if (owner !== undefined && (filter.owner ?? owner) !== owner)
      return done<JobPage & { table: string }>({
        jobs: [],
        next: null,
        searchedTo: null,
        table: table.value.name,
      })
    const page = await fillPage(table.value.store, owner === undefined ? filter : { ...filter, owner }, {
      limit,
      maxSteps: LIST_STEPS,
      withPayload: withPayload && scopes.includes('jobs:payload'),
      ...given({ cursor }),
    })
    return done<JobPage & { table: string }>({ ...page, table: table.value.name })
  },
)

export interface Retryability {
  isAllowed: boolean
  reason: string | null
}

export interface ReadJob extends FoundJob {
  retry: Retryability
}

export const readJob = command('readJob', async (context, ref: JobRef) => {
  const found = await findJob(context, ref)
  if (!found.isDone) return found
  return done<ReadJob>({ ...found.value, retry: await retryability(context, found.value.job) })
})

async function retryability(context: CommandContext, job: Job): Promise<Retryability> {
  if (job.status !== 'dead') return { isAllowed: false, reason: `It is ${job.status}, not dead.` }
  if (context.sourceExists !== undefined && !(await context.sourceExists(job)))
    return { isAllowed: false, reason: 'Its source no longer exists: it cannot run again.' }
  return { isAllowed: true, reason: null }
}

export const readEvents = command('readEvents', async (context, ref: JobRef) => {
  const found = await findJob(context, ref)
  if (!found.isDone) return found
  const { table, job } = found.value
  return done<{ table: CommandTable; job: Job; events: JobEvent[] }>({
    table,
    job,
    events: await table.store.listEvents(job.id),
  })
})

export interface ExplainedJob extends Explanation {
  id: string
  table: string
  facts: JobFacts
}

export const explainJob = command('explainJob', async (context, ref: JobRef) => {
  const found = await findJob(context, ref)
  if (!found.isDone) return found
  const { table, job } = found.value
  const facts = await table.store.readJobFacts(job.id, policyOf(context))
  if (facts === null) return jobNotFound(ref.id)
  const shown = context.actor.owner === undefined ? facts : factsForOwner(facts)
  const explanation = explainFacts(shown, await readAgeRule(context, table))
  const { isAllowed, reason } = await retryability(context, job)
  return done<ExplainedJob>({
    id: job.id,
    table: table.name,
    facts: shown,
    ...(shown.status === 'dead' && !isAllowed ? withoutRetry(explanation, reason) : explanation),
  })
})

/** Offers no act that would be refused. */
function withoutRetry(explanation: Explanation, reason: string | null): Explanation {
  const reasons = explanation.reasons.map(({ remedies = [], ...rest }) => ({
    ...rest,
    remedies: remedies.filter(({ act }) => act !== 'retry' && act !== 'raise-attempts'),
  }))
  return { ...explanation, reasons, sentence: `It is dead. ${reason ?? 'It cannot be retried.'}` }
}

async function readAgeRule(
  { policy }: CommandContext,
  { table, store }: CommandTable,
): Promise<AgeRule | undefined> {
  if (table === undefined) return undefined
  return ageRuleOf(table, withOverride(await store.readPolicy(), policy))
}

/** An explanation quotes the error of the last attempt. */
function factsForOwner(facts: JobFacts): JobFacts {
  const { error, lastEvent } = facts
  const reason = lastEvent?.details['reason']
  return {
    ...facts,
    error: error && { ...error, code: codeForOwner(error.code), reason: reasonForOwner(error.reason) },
    lastEvent:
      lastEvent === null || typeof reason !== 'string'
        ? lastEvent
        : { ...lastEvent, details: { ...lastEvent.details, reason: reasonForOwner(reason) } },
  }
}

export interface EnqueuedJob {
  id: string
  table: string
  outcome: EnqueueOutcome
}

export const enqueueJob = command(
  'enqueueJob',
  async (context, { job, table: name }: { job: NewJob; table?: string | undefined }) => {
    const { owner, id } = context.actor
    if (owner !== undefined && job.owner !== undefined && job.owner !== owner)
      return refused('FORBIDDEN', `${id} may only enqueue jobs of its own owner`)
    // Owners share the dedupe keys: the job that has it may be another's.
    if (owner !== undefined && job.dedupe?.replace === true)
      return refused('FORBIDDEN', `${id} may not replace jobs by a dedupe key, which owners share`)
    const table = findTable(context, name)
    if (!table.isDone) return table
    const owned = owner === undefined ? job : { ...job, owner }
    const [enqueued] = await table.value.store.enqueueJobs([owned], policyOf(context))
    if (enqueued === undefined) throw new UnstuckError('INTERNAL', 'enqueueJobs answered nothing for a job')
    // Owners share the dedupe keys, but may not see each other's jobs. A job whose window has not ended may be deleted.
    if (
      owner !== undefined &&
      enqueued.outcome === 'duplicate' &&
      !(await findJob(context, { id: enqueued.jobId, table: name })).isDone
    )
      return refused('STATE_CONFLICT', 'another job has this dedupe key')
    return done<EnqueuedJob>({ id: enqueued.jobId, table: table.value.name, outcome: enqueued.outcome })
  },
)

export interface RetryInput extends JobRef {
  /** Refuses another generation: a double click is harmless (C21). */
  generation?: number | undefined
  keepAttempts?: boolean
  /** Makes a waiting job due at once. */
  isNow?: boolean
  reason?: string | undefined
}

export interface JobChange {
  id: string
  table: string
  outcome: string
  /** The next step of a job that waits again: a paused queue still holds it. */
  next?: string
}

export const retryJob = command('retryJob', async (context, input: RetryInput) => {
  const { generation, keepAttempts = false, isNow = false, reason } = input
  const found = await findJob(context, input)
  if (!found.isDone) return found
  const { table, job } = found.value
  const changed = async (outcome: string) =>
    done<JobChange>({ id: job.id, table: table.name, outcome, ...(await nextOf(context, table, job.id)) })
  const options = manualOptions(context, reason, generation)
  if (job.status === 'waiting' && isNow) {
    const [hurried] = await table.store.runJobsNow([job.id], options)
    if (hurried?.outcome === 'generation-changed') return generationChanged(job.id)
    if (hurried?.outcome === 'due' || hurried?.outcome === 'already-due') return changed(hurried.outcome)
  }
  if (generation !== undefined && generation !== job.generation) return generationChanged(job.id)
  const { isAllowed, reason: why } = await retryability(context, job)
  if (!isAllowed && job.status !== 'dead') return stateConflict(job.id, why, 'NOT_DEAD')
  if (!isAllowed) return refused('SOURCE_GONE', `job ${job.id}: ${why ?? ''}`)
  const [retried] = await table.store.retryJobs([job.id], {
    ...options,
    keepAttempts,
    generation: generation ?? job.generation,
  })
  switch (retried?.outcome) {
    case 'retried':
      return changed('retried')
    case 'generation-changed':
      if (generation !== undefined) return generationChanged(job.id)
      return stateConflict(job.id, 'It was retried by someone else meanwhile.', 'NOT_DEAD')
    case 'duplicate':
      return stateConflict(job.id, 'Another unfinished job has its dedupe key.', 'DUPLICATE')
    case 'not-dead':
      return stateConflict(job.id, 'It is no longer dead.', 'NOT_DEAD')
    default:
      return jobNotFound(input.id)
  }
})

async function nextOf(
  context: CommandContext,
  { store }: CommandTable,
  id: string,
): Promise<{ next?: string }> {
  const facts = await store.readJobFacts(id, policyOf(context))
  return facts === null ? {} : { next: explainFacts(facts).sentence }
}

export interface ChangeInput extends JobRef {
  generation?: number | undefined
  reason?: string | undefined
}

export const cancelJob = command('cancelJob', async (context, input: ChangeInput) => {
  const found = await findJob(context, input)
  if (!found.isDone) return found
  const { table, job } = found.value
  const options = manualOptions(context, input.reason, input.generation)
  const [cancelled] = await table.store.cancelJobs([job.id], options)
  if (cancelled?.outcome === 'generation-changed') return generationChanged(job.id)
  if (cancelled?.outcome === 'already-ended')
    return stateConflict(job.id, `It has already ended: it is ${job.status}.`, 'ENDED')
  if (cancelled === undefined || cancelled.outcome === 'not-found') return jobNotFound(input.id)
  return done<JobChange>({ id: job.id, table: table.name, outcome: cancelled.outcome })
})

export const discardJob = command('discardJob', async (context, input: ChangeInput) => {
  const found = await findJob(context, input)
  if (!found.isDone) return found
  const { table, job } = found.value
  const options = manualOptions(context, input.reason, input.generation)
  const [discarded] = await table.store.discardJobs([job.id], options)
  if (discarded?.outcome === 'generation-changed') return generationChanged(job.id)
  if (discarded?.outcome === 'running')
    return stateConflict(job.id, 'It is running: cancel it first.', 'RUNNING')
  if (discarded?.outcome !== 'discarded') return jobNotFound(input.id)
  return done<JobChange>({ id: job.id, table: table.name, outcome: 'discarded' })
})

const generationChanged = (id: string) =>
  refused('PRECONDITION_FAILED', `job ${id}: its generation is not the expected one`)

function stateConflict(id: string, message: string | null, code: string) {
  const said = message ?? ''
  return refused('STATE_CONFLICT', `job ${id}: ${said}`, { why: [{ code, message: said }] })
}
