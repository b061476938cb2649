// Bulk changes. A command records an operation; the process of a server runs it, this one or another (OPS-9).
import {
  MAX_OPERATION_JOBS,
  type NewOperation,
  type Operation,
  type OperationAction,
  type OperationEnds,
  type OperationJob,
  type OperationJobPage,
  type PlannedTotal,
} from '../../store/ports/operation-store.ts'
import type { JobFilter } from '../../store/ports/reading-store.ts'
import type { Scope } from '../actor.ts'
import {
  type Answer,
  type CommandContext,
  type CommandTable,
  command,
  done,
  findTable,
  findTables,
  refused,
} from '../command.ts'
import { given } from '../given.ts'
import { readEach } from '../shard-tables.ts'
import { isLaterText, mergePages } from './merge-pages.ts'

export interface OperationInput {
  action: OperationAction
  filter: JobFilter
  /** The filter as typed. */
  q: string
  table?: string | undefined
  asOf?: Date | undefined
  canary?: number | undefined
  ratePerS?: number | undefined
  limit?: number | undefined
  /** Refuses if another number of jobs matches. */
  expect?: number | undefined
  keepAttempts?: boolean | undefined
  /** The caller runs the operation itself, under this lease. Default: a server runs it. */
  leaseMs?: number | undefined
  reason?: string | undefined
}

export interface PlannedOperation extends PlannedTotal {
  table: string
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

/** A bulk change needs the scope of the change to one job. */
const actionScopes: Record<OperationAction, Scope> = {
  retry: 'jobs:retry',
  redrive: 'jobs:retry',
  'run-now': 'jobs:retry',
  cancel: 'jobs:cancel',
  discard: 'jobs:discard',
}

/** Default rate of a redrive, in jobs per second. */
const REDRIVE_RATE_PER_S = 10

/** Counts the matching jobs. Changes nothing. */
export const planOperation = command('planOperation', planIn)
/** Answers once the operation has begun. Its ids are fixed before any job changes. */
export const beginOperation = command('beginOperation', beginIn)

export type RedriveInput = Omit<OperationInput, 'action' | 'filter' | 'q'> & { causeId: string }

export const planRedrive = command('planRedrive', findCause)

export const redrive = command('redrive', async (context, input: RedriveInput) => {
  const plan = await findCause(context, input)
  if (!plan.isDone) return plan
  return beginIn(context, { ...redriveOf(input), table: plan.value.table })
})

const redriveOf = ({ causeId, ...rest }: RedriveInput): OperationInput => ({
  ...rest,
  action: 'redrive',
  filter: { status: 'dead', causeId },
  q: `status:dead cause:${causeId}`,
})

/** In the named table, or the first one with dead jobs of the cause; else the first that may have some. */
async function findCause(context: CommandContext, input: RedriveInput): Promise<Answer<PlannedOperation>> {
  const tables = findTables(context, input.table)
  if (!tables.isDone) return tables
  const { expect, ...anyNumber } = input
  const plans: PlannedOperation[] = []
  for (const { name: table } of tables.value) {
    const plan = await planIn(context, { ...redriveOf(anyNumber), table })
    if (!plan.isDone) return plan
    plans.push(plan.value)
    if (plan.value.total > 0) break
  }
  const found = plans.find(({ total }) => total > 0) ?? plans.find(isLowerBound)
  if (found === undefined) return noSuchCause(input.causeId)
  return isContradicted(found, expect) ? unexpected(found.total, expect) : done(found)
}

export const isLowerBound = ({ atLeast }: PlannedTotal) => atLeast.length > 0

/** A lower bound contradicts a smaller number only. */
export function isContradicted(plan: PlannedTotal, expect: number | undefined): boolean {
  if (expect === undefined) return false
  return isLowerBound(plan) ? plan.total > expect : plan.total !== expect
}

const noSuchCause = (causeId: string) => refused('JOB_NOT_FOUND', `no dead job has the cause ${causeId}`)

const unexpected = (total: number, expect: number | undefined) =>
  refused('PRECONDITION_FAILED', `${total} jobs match, expected ${expect}: nothing was changed`)

async function planIn(context: CommandContext, input: OperationInput): Promise<Answer<PlannedOperation>> {
  const { value: table, refusal } = await prepare(context, input)
  if (refusal !== undefined) return refusal
  const plan = await table.store.beginOperation({ ...requestOf(context, input), isPlan: true })
  if (plan.outcome !== 'planned') return notBegun(plan, input)
  const { total, asOf, atLeast } = plan
  return done({ table: table.name, total, asOf, atLeast })
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
      refusal: refused(
        'INVALID_ARGUMENT',
        'q: must have at least one key:value; status:dead matches all dead jobs',
      ),
    }
  const named = findTable(context, table)
  return named.isDone ? { value: named.value } : { refusal: named }
}

function requestOf({ actor }: CommandContext, input: OperationInput): NewOperation {
  const { action, filter, q, table: _table, ...more } = input
  const ratePerS = input.ratePerS ?? (action === 'redrive' ? REDRIVE_RATE_PER_S : undefined)
  return { action, filter, q, actor: actor.id, ...given({ ...more, ratePerS, owner: actor.owner }) }
}

function notBegun(
  { outcome, total }: { outcome: string; total: number },
  { expect }: OperationInput,
): Answer<never> {
  if (outcome === 'unexpected') return unexpected(total, expect)
  return refused(
    'INVALID_ARGUMENT',
    `q: more than ${MAX_OPERATION_JOBS.toLocaleString('en')} jobs match, the maximum of one operation`,
    { hint: 'Narrow q, or change them in parts with limit.' },
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

/** Newest first, in the named table or in all. */
export const listOperations = command(
  'listOperations',
  async (context, { limit, cursor, table: name }: ListOperationsInput) => {
    const tables = findTables(context, name)
    if (!tables.isDone) return tables
    const pages = await readEach(tables.value, async ({ name: table, store }) => {
      const from = { ...ownerOf(context), limit, ...given({ cursor }) }
      const { operations, next } = await store.listOperations(from)
      return { items: operations.map((operation) => ({ table, operation })), next }
    })
    const { items, next } = mergePages(
      pages.map(({ value }) => value),
      limit,
      ({ operation }) => operation.id,
      isLaterText,
    )
    return done<OperationList>({ operations: items, next })
  },
)

export interface ReadOperation extends TableOperation {
  ends: OperationEnds
}

/** With the present state of its jobs, which run on after it has ended. */
export const readOperation = command('listOperations', async (context, id: string) => {
  const found = await findOperation(context, id)
  if (!found.isDone) return found
  const { table, operation, store } = found.value
  return done<ReadOperation>({ table, operation, ends: await store.countOperationEnds(id) })
})

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
    const page = await found.value.store.listOperationJobs(id, { limit, ...given({ cursor }) })
    return done<{ jobs: OperationJob[] } & OperationJobPage>(page)
  },
)

export const abortOperation = command('abortOperation', async (context, id: string) => {
  const found = await findOperation(context, id)
  if (!found.isDone) return found
  const { table, store } = found.value
  const { operation } = await store.abortOperation(id, { ...ownerOf(context), actor: context.actor.id })
  return operation === null ? noSuchOperation(id) : done<TableOperation>({ table, operation })
})

async function findOperation(
  context: CommandContext,
  id: string,
): Promise<Answer<TableOperation & Pick<CommandTable, 'store'>>> {
  const found = await readEach(context.tables, ({ store }) => store.readOperation(id, ownerOf(context)))
  for (const { table, value: operation } of found)
    if (operation !== null) return done({ table: table.name, operation, store: table.store })
  if (found.length === context.tables.length) return noSuchOperation(id)
  const silent = context.tables.filter(({ name }) => !found.some(({ table }) => table.name === name))
  const names = silent.map(({ name }) => name).join(', ')
  return refused('DATABASE_UNREACHABLE', `${names} did not answer, and no other shard has operation ${id}`)
}

const ownerOf = ({ actor: { owner } }: CommandContext) => given({ owner })

const noSuchOperation = (id: string) =>
  refused('NOT_FOUND', `no operation has the id ${id.slice(0, 100)}`, {
    hint: 'Operations are kept for a week after their end.',
  })
