// Dead letters by cause, and bringing a whole cause back (OPS-9).
import { eachJob } from '../runtime/each-job.ts'
import { redriveJobs } from '../runtime/redrive.ts'
import type { DeadJobGroup, JobSummary } from '../store/job-store.ts'
import {
  type Answer,
  type CommandContext,
  type CommandTable,
  command,
  done,
  findTable,
  refused,
} from './command.ts'
import type { Operation, Operations } from './operations.ts'

export interface TableGroup {
  table: string
  group: DeadJobGroup
}

export const listDeadLetters = command(
  'listDeadLetters',
  async (context, { limit, table: name }: { limit: number; table?: string | undefined }) => {
    const named = findTable(context, name)
    if (!named.isDone) return named
    const groups: TableGroup[] = []
    let isComplete = true
    for (const table of name === undefined ? context.tables : [named.value]) {
      const found = await table.store.groupDeadJobs({ limit })
      groups.push(...found.groups.map((group) => ({ table: table.name, group })))
      isComplete &&= found.isComplete
    }
    return done<{ groups: TableGroup[]; isComplete: boolean }>({ groups, isComplete })
  },
)

export interface RedriveInput {
  causeId: string
  table?: string | undefined
  canary?: number | undefined
  ratePerS?: number | undefined
  limit?: number | undefined
  /** Nothing is changed where another number of jobs matches. */
  expect?: number | undefined
  keepAttempts?: boolean | undefined
  reason?: string | undefined
}

export interface RedrivePlan {
  table: CommandTable
  jobs: Pick<JobSummary, 'id' | 'queue'>[]
}

/** What a redrive would bring back, oldest first. Changes nothing. */
export const planRedrive = command('planRedrive', (context, input: RedriveInput) => choose(context, input))

/** Answers once it has begun. The ids are chosen before anything is changed. */
export function createRedrive(operations: Operations) {
  return command('redrive', async (context, input: RedriveInput) => {
    const { causeId, canary, ratePerS, keepAttempts, reason } = input
    const plan = await choose(context, input)
    if (!plan.isDone) return plan
    const { table, jobs } = plan.value
    const actor = context.actor.id
    const operation = operations.begin(
      { table: table.name, causeId, actor, reason: reason ?? null, total: jobs.length },
      (signal, onProgress) =>
        redriveJobs(table.store, jobs, {
          actor,
          signal,
          onProgress,
          ...(canary === undefined ? {} : { canary }),
          ...(ratePerS === undefined ? {} : { ratePerS }),
          ...(keepAttempts === undefined ? {} : { keepAttempts }),
          ...(reason === undefined ? {} : { reason }),
        }),
    )
    return done<Operation>(operation)
  })
}

async function choose(context: CommandContext, input: RedriveInput): Promise<Answer<RedrivePlan>> {
  const { causeId, limit, expect } = input
  const named = findTable(context, input.table)
  if (!named.isDone) return named
  for (const table of input.table === undefined ? context.tables : [named.value]) {
    const jobs: RedrivePlan['jobs'] = []
    for await (const { id, queue } of eachJob(table.store, { status: 'dead', causeId }))
      jobs.push({ id, queue })
    if (jobs.length === 0) continue
    const chosen = jobs.toReversed().slice(0, limit)
    if (expect !== undefined && expect !== chosen.length)
      return refused('PRECONDITION_FAILED', `${chosen.length} jobs match and ${expect} were expected`)
    return done({ table, jobs: chosen })
  }
  return refused('JOB_NOT_FOUND', `no dead job has the cause ${causeId}`)
}

export function createOperationCommands(operations: Operations) {
  const missing = (id: string) =>
    refused('NOT_FOUND', `no operation has the id ${id}`, {
      hint: 'Operations are those of this server process since it started.',
    })
  return {
    listOperations: command('listOperations', async () => done<Operation[]>(operations.list())),
    readOperation: command('listOperations', async (_context, id: string) => {
      const found = operations.find(id)
      return found === null ? missing(id) : done<Operation>(found)
    }),
    abortOperation: command('abortOperation', async (_context, id: string) => {
      const ended = await operations.abort(id)
      return ended === null ? missing(id) : done<Operation>(ended)
    }),
  }
}
