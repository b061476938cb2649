// Reclaimed jobs, stale jobs, past sweeps, attached profiles and the audit log.
import type { AccessStore, AuditPage } from '../store/access-store.ts'
import type { Attachment, LastSweep, PastSweep, Reclaim, StaleJob } from '../store/job-store.ts'
import {
  type Answer,
  type CommandContext,
  command,
  done,
  findTable,
  findTables,
  fromTables,
  type InTable,
  type InTableValue,
  policyOf,
  refused,
} from './command.ts'
import { given } from './given.ts'
import { isGreaterNumber, isLaterText, mergePages } from './jobs/merge-pages.ts'

export interface PageInput extends InTable {
  limit: number
  cursor?: string | undefined
}

export interface ReclaimsInput extends PageInput {
  workerId?: string | undefined
  stage?: string | undefined
}

export interface ReclaimsAnswer {
  reclaims: InTableValue<Reclaim>[]
  next: string | null
}

/** A filtered page may be short and still have a `next`. */
export const listReclaims = command('listReclaims', async (context, input: ReclaimsInput) => {
  const { limit, cursor, workerId, stage } = input
  const tables = findTables(context, input.table)
  if (!tables.isDone) return tables
  if (cursor !== undefined && !/^\d{1,18}$/.test(cursor)) return badCursor()
  const request = { ...pageOf(input), ...given({ workerId, stage }) }
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
  jobs: InTableValue<StaleJob>[]
  count: number
}

export const listStaleJobs = command('listStaleJobs', (context, input: StaleInput) =>
  findStale(context, input, false),
)

/** Jobs past twice their lease: if there is one, no reaper is running. */
export const validateStale = command('validateStale', (context, input: StaleInput) =>
  findStale(context, input, true),
)

async function findStale(
  context: CommandContext,
  input: StaleInput,
  isPastTwiceLease: boolean,
): Promise<Answer<StaleAnswer>> {
  const { limit } = input
  const tables = findTables(context, input.table)
  if (!tables.isDone) return tables
  const jobs: InTableValue<StaleJob>[] = []
  let count = 0
  for (const { name, store } of tables.value) {
    const found = await store.listStaleJobs({ limit, isPastTwiceLease, ...policyOf(context) })
    jobs.push(...found.jobs.map((value) => ({ table: name, value })))
    count += found.count
  }
  const overdueMs = ({ value }: InTableValue<StaleJob>) => value.overdueMs ?? -1
  const shown = jobs.toSorted((a, b) => overdueMs(b) - overdueMs(a)).slice(0, limit)
  return done({ jobs: shown, count })
}

export interface SweepsAnswer {
  last: InTableValue<LastSweep>[]
  sweeps: InTableValue<PastSweep>[]
  next: string | null
}

export const listSweeps = command('listSweeps', async (context, input: PageInput) => {
  const { limit, cursor } = input
  const tables = findTables(context, input.table)
  if (!tables.isDone) return tables
  if (cursor !== undefined && !/^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d{1,15})$/.test(cursor))
    return badCursor()
  const last: InTableValue<LastSweep>[] = []
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

export interface AuditInput extends PageInput {
  actor?: string | undefined
}

export function createAuditCommands(access: Pick<AccessStore, 'listAuditEntries'>) {
  return {
    listAuditEntries: command('listAuditEntries', async (context, input: AuditInput) => {
      const { table, actor, cursor, limit } = input
      const named = findTable(context, table)
      if (!named.isDone) return named
      return done<AuditPage>(await access.listAuditEntries({ limit, ...given({ table, actor, cursor }) }))
    }),
  }
}

const pageOf = ({ limit, cursor }: PageInput) => ({ limit, ...given({ before: cursor }) })

const badCursor = () => refused('INVALID_ARGUMENT', 'cursor: must be the next_cursor of an earlier page')
