// Changes of many jobs at once. They are written down here and run by the process of a server, this one or another (OPS-9).
import {
  MAX_OPERATION_JOBS,
  type NewOperation,
  type Operation,
  type OperationAction,
  type OperationJob,
  type OperationJobPage,
} from '../../store/operation-store.ts'
import type { JobFilter } from '../../store/operator-store.ts'
import type { Scope } from '../actor.ts'
import {
  type Answer,
  type CommandContext,
  type CommandTable,
  command,
  done,
  findTable,
  refused,
} from '../command.ts'
import { isLaterText, mergePages } from './merge-pages.ts'

export interface OperationInput {
  action: OperationAction
  filter: JobFilter
  /** The filter as it was typed. */
  q: string
  table?: string | undefined
  asOf?: Date | undefined
  canary?: number | undefined
  ratePerS?: number | undefined
  limit?: number | undefined
  /** Nothing is changed where another number of jobs matches. */
  expect?: number | undefined
  keepAttempts?: boolean | undefined
  /** The caller runs it itself, under this lease; default: a server does. */
  leaseMs?: number | undefined
  reason?: string | undefined
}

export interface PlannedOperation {
  table: string
  total: number
  asOf: Date
}

export interface TableOperation {
  table: string
  operation: Operation
}

export interface BegunOperation extends TableOperation {
  /** Set if the caller asked for a lease. */
  leaseId: string | null
}

/** What one job at a time needs, many at once need too. */
const actionScopes: Record<OperationAction, Scope> = {
  retry: 'jobs:retry',
  redrive: 'jobs:retry',
  'run-now': 'jobs:retry',
  cancel: 'jobs:cancel',
  discard: 'jobs:discard',
}

/** Jobs a second of a redrive that does not say. */
const REDRIVE_RATE_PER_S = 10

/** How many jobs it would be about. Changes nothing. */
export const planOperation = command('planOperation', planIn)
/** Answers once it has begun. The ids are chosen before anything is changed. */
export const beginOperation = command('beginOperation', beginIn)

export type RedriveInput = Omit<OperationInput, 'action' | 'filter' | 'q'> & { causeId: string }

export const planRedrive = command('planRedrive', async (context, input: RedriveInput) => {
  const plan = await findCause(context, input)
  return plan.isDone && plan.value.total === 0 ? noSuchCause(input.causeId) : plan
})

export const redrive = command('redrive', async (context, input: RedriveInput) => {
  const plan = await findCause(context, input)
  if (!plan.isDone) return plan
  if (plan.value.total === 0) return noSuchCause(input.causeId)
  return beginIn(context, { ...redriveOf(input), table: plan.value.table })
})

const redriveOf = ({ causeId, ...rest }: RedriveInput): OperationInput => ({
  ...rest,
  action: 'redrive',
  filter: { status: 'dead', causeId },
  q: `status:dead cause:${causeId}`,
})

/** In the table that is named, or the first that has dead jobs of the cause. */
async function findCause(context: CommandContext, input: RedriveInput): Promise<Answer<PlannedOperation>> {
  const names = input.table === undefined ? context.tables.map(({ name }) => name) : [input.table]
  const { expect, ...anyNumber } = input
  let plan: Answer<PlannedOperation> = noSuchCause(input.causeId)
  for (const table of names) {
    plan = await planIn(context, { ...redriveOf(anyNumber), table })
    if (plan.isDone && plan.value.total > 0) {
      const { total } = plan.value
      return expect === undefined || expect === total ? plan : unexpected(total, expect)
    }
  }
  return plan
}

const noSuchCause = (causeId: string) => refused('JOB_NOT_FOUND', `no dead job has the cause ${causeId}`)

const unexpected = (total: number, expect: number | undefined) =>
  refused('PRECONDITION_FAILED', `${total} jobs match and ${expect} were expected: nothing was changed`)

async function planIn(context: CommandContext, input: OperationInput): Promise<Answer<PlannedOperation>> {
  const { value: table, refusal } = await prepare(context, input)
  if (refusal !== undefined) return refusal
  const plan = await table.store.beginOperation({ ...requestOf(context, input), isPlan: true })
  if (plan.outcome !== 'planned') return notBegun(plan, input)
  return done({ table: table.name, total: plan.total, asOf: plan.asOf })
}

async function beginIn(context: CommandContext, input: OperationInput): Promise<Answer<BegunOperation>> {
  const { value: table, refusal } = await prepare(context, input)
  if (refusal !== undefined) return refusal
  const begun = await table.store.beginOperation(requestOf(context, input))
  if (begun.outcome !== 'begun') return notBegun(begun, input)
  return done({ table: table.name, operation: begun.operation, leaseId: begun.leaseId })
}

type Prepared = { value: CommandTable; refusal?: undefined } | { value?: undefined; refusal: Answer<never> }

async function prepare(
  context: CommandContext,
  { action, filter, table }: OperationInput,
): Promise<Prepared> {
  const scope = actionScopes[action]
  const { scopes, id } = context.actor
  if (!scopes.includes(scope))
    return { refusal: refused('FORBIDDEN', `${action} needs the scope ${scope}, which ${id} does not have`) }
  if (Object.keys(filter).length === 0)
    return {
      refusal: refused('INVALID_ARGUMENT', 'q: takes one key:value or more; status:dead, for all that are'),
    }
  const named = findTable(context, table)
  return named.isDone ? { value: named.value } : { refusal: named }
}

function requestOf({ actor }: CommandContext, input: OperationInput): NewOperation {
  const { action, filter, q, asOf, canary, limit, expect, keepAttempts, leaseMs, reason } = input
  const ratePerS = input.ratePerS ?? (action === 'redrive' ? REDRIVE_RATE_PER_S : undefined)
  return {
    action,
    filter,
    q,
    actor: actor.id,
    ...(actor.owner === undefined ? {} : { owner: actor.owner }),
    ...(asOf === undefined ? {} : { asOf }),
    ...(canary === undefined ? {} : { canary }),
    ...(ratePerS === undefined ? {} : { ratePerS }),
    ...(limit === undefined ? {} : { limit }),
    ...(expect === undefined ? {} : { expect }),
    ...(keepAttempts === undefined ? {} : { keepAttempts }),
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(reason === undefined ? {} : { reason }),
  }
}

function notBegun(
  { outcome, total }: { outcome: string; total: number },
  { expect }: OperationInput,
): Answer<never> {
  if (outcome === 'unexpected') return unexpected(total, expect)
  return refused(
    'INVALID_ARGUMENT',
    `q: more than ${MAX_OPERATION_JOBS.toLocaleString('en')} jobs match, which is the most at once`,
    { hint: 'Narrow q, or take them in parts with limit.' },
  )
}

export interface ListOperationsInput {
  limit: number
  cursor?: string | undefined
  table?: string | undefined
}

export interface OperationList {
  operations: TableOperation[]
  next: string | null
}

/** Of the table that is named, or of all, the newest first. */
export const listOperations = command(
  'listOperations',
  async (context, { limit, cursor, table: name }: ListOperationsInput) => {
    const named = findTable(context, name)
    if (!named.isDone) return named
    const tables = name === undefined ? context.tables : [named.value]
    const pages = await Promise.all(
      tables.map(async ({ name: table, store }) => {
        const from = { ...ownerOf(context), limit, ...(cursor === undefined ? {} : { cursor }) }
        const { operations, next } = await store.listOperations(from)
        return { items: operations.map((operation) => ({ table, operation })), next }
      }),
    )
    const { items, next } = mergePages(pages, limit, ({ operation }) => operation.id, isLaterText)
    return done<OperationList>({ operations: items, next })
  },
)

export const readOperation = command('listOperations', (context, id: string) => findOperation(context, id))

export interface ListOperationJobsInput {
  id: string
  limit: number
  cursor?: number | undefined
}

export const listOperationJobs = command(
  'listOperations',
  async (context, { id, limit, cursor }: ListOperationJobsInput) => {
    const found = await findOperation(context, id)
    if (!found.isDone) return found
    const page = await found.value.store.listOperationJobs(id, {
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    })
    return done<{ jobs: OperationJob[] } & OperationJobPage>(page)
  },
)

export const abortOperation = command('abortOperation', async (context, id: string) => {
  for (const { name, store } of context.tables) {
    const { operation } = await store.abortOperation(id, {
      ...ownerOf(context),
      actor: context.actor.id,
    })
    if (operation !== null) return done<TableOperation>({ table: name, operation })
  }
  return noSuchOperation(id)
})

async function findOperation(
  context: CommandContext,
  id: string,
): Promise<Answer<TableOperation & Pick<CommandTable, 'store'>>> {
  for (const { name, store } of context.tables) {
    const operation = await store.readOperation(id, ownerOf(context))
    if (operation !== null) return done({ table: name, operation, store })
  }
  return noSuchOperation(id)
}

const ownerOf = ({ actor: { owner } }: CommandContext) => (owner === undefined ? {} : { owner })

const noSuchOperation = (id: string) =>
  refused('NOT_FOUND', `no operation has the id ${id.slice(0, 100)}`, {
    hint: 'Operations are kept for a week after their end.',
  })
