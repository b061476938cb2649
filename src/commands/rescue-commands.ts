// What was taken back, what should have been by now, the sweeps; and who did what.
import type { AccessStore, ActPage, ActRequest } from '../store/access-store.ts'
import type { Attachment, LastSweep, PastSweep, Reclaim, StaleJob } from '../store/job-store.ts'
import {
  type Answer,
  type CommandContext,
  type CommandTable,
  command,
  done,
  findTable,
  fromTables,
  type InTable,
  policyOf,
  refused,
} from './command.ts'
import { isGreaterNumber, isLaterText, mergePages } from './jobs/merge-pages.ts'

export interface Told<Item> {
  table: string
  value: Item
}

export interface PageInput extends InTable {
  limit: number
  cursor?: string | undefined
}

export interface ReclaimsInput extends PageInput {
  workerId?: string | undefined
  stage?: string | undefined
}

export interface ReclaimsAnswer {
  reclaims: Told<Reclaim>[]
  next: string | null
}

/** With a filter a page may be short and have a `next` all the same. */
export const listReclaims = command('listReclaims', async (context, input: ReclaimsInput) => {
  const { limit, cursor, workerId, stage } = input
  const tables = tablesOf(context, input)
  if (!tables.isDone) return tables
  if (cursor !== undefined && !/^\d{1,18}$/.test(cursor)) return badCursor()
  const request = {
    ...pageOf(input),
    ...(workerId === undefined ? {} : { workerId }),
    ...(stage === undefined ? {} : { stage }),
  }
  const pages = await Promise.all(
    tables.value.map(async ({ name, store }) => {
      const { reclaims, next } = await store.listReclaims(request)
      return { items: reclaims.map((value) => ({ table: name, value })), next }
    }),
  )
  const { items, next } = mergePages(pages, limit, ({ value }) => value.reclaimId, isGreaterNumber)
  return done<ReclaimsAnswer>({ reclaims: items, next })
})

export interface StaleInput extends InTable {
  limit: number
}

export interface StaleAnswer {
  jobs: Told<StaleJob>[]
  count: number
}

export const listStaleJobs = command('listStaleJobs', (context, input: StaleInput) =>
  findStale(context, input, false),
)

/** Those past twice their lease: there is none, or nobody takes jobs back. */
export const validateStale = command('validateStale', (context, input: StaleInput) =>
  findStale(context, input, true),
)

async function findStale(
  context: CommandContext,
  input: StaleInput,
  isPastTwiceLease: boolean,
): Promise<Answer<StaleAnswer>> {
  const { limit } = input
  const tables = tablesOf(context, input)
  if (!tables.isDone) return tables
  const jobs: Told<StaleJob>[] = []
  let count = 0
  for (const { name, store } of tables.value) {
    const found = await store.listStaleJobs({ limit, isPastTwiceLease, ...policyOf(context) })
    jobs.push(...found.jobs.map((value) => ({ table: name, value })))
    count += found.count
  }
  const overdueMs = ({ value }: Told<StaleJob>) => value.overdueMs ?? -1
  const shown = jobs.toSorted((a, b) => overdueMs(b) - overdueMs(a)).slice(0, limit)
  return done({ jobs: shown, count })
}

export interface SweepsAnswer {
  last: Told<LastSweep>[]
  sweeps: Told<PastSweep>[]
  next: string | null
}

export const listSweeps = command('listSweeps', async (context, input: PageInput) => {
  const { limit, cursor } = input
  const tables = tablesOf(context, input)
  if (!tables.isDone) return tables
  if (cursor !== undefined && !/^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d{1,15})$/.test(cursor))
    return badCursor()
  const last: Told<LastSweep>[] = []
  const pages = []
  for (const { name, store } of tables.value) {
    const page = await store.listSweeps(pageOf(input))
    if (page.last !== null) last.push({ table: name, value: page.last })
    pages.push({ items: page.sweeps.map((value) => ({ table: name, value })), next: page.next })
  }
  const { items, next } = mergePages(pages, limit, ({ value }) => value.sweepId, isLaterText)
  return done<SweepsAnswer>({ last, sweeps: items, next })
})

export const listProfiles = command('listProfiles', (context, input: InTable) =>
  fromTables<Attachment>(context, input, async ({ store }) => [await store.readAttachment()]),
)

export interface ActsInput extends PageInput {
  actor?: string | undefined
}

export function createActCommands(access: Pick<AccessStore, 'listActs'>) {
  return {
    listActs: command('listActs', async (context, input: ActsInput) => {
      const { table, actor, cursor, limit } = input
      const named = findTable(context, table)
      if (!named.isDone) return named
      const request: ActRequest = {
        limit,
        ...(table === undefined ? {} : { table }),
        ...(actor === undefined ? {} : { actor }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      return done<ActPage>(await access.listActs(request))
    }),
  }
}

function tablesOf(context: CommandContext, { table: name }: InTable): Answer<readonly CommandTable[]> {
  const named = findTable(context, name)
  if (!named.isDone) return named
  return done(name === undefined ? context.tables : [named.value])
}

function pageOf({ limit, cursor }: PageInput) {
  return { limit, ...(cursor === undefined ? {} : { before: cursor }) }
}

const badCursor = () => refused('INVALID_ARGUMENT', 'cursor: takes the next_cursor of an earlier page')
