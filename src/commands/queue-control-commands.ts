// Queues, breakers, rate limits and schedules; sweeps by hand; table health.
import { isTableHealthy } from '../policy/explain/table-health.ts'
import { runSweep } from '../runtime/services/run-sweep.ts'
import type {
  Breaker,
  Health,
  QueueLimits,
  QueueList,
  QueueRequest,
  QueueStatus,
  RateLimitStatus,
  ReapedJob,
  Schedule,
  Trend,
  TrendRequest,
} from '../store/job-store.ts'
import {
  type Answer,
  type CommandContext,
  type CommandTable,
  command,
  done,
  findTable,
  fromTables,
  type InTable,
  type InTableValue,
  manualOptions,
  policyOf,
  refused,
} from './command.ts'
import { given } from './given.ts'

export interface ListedQueues {
  queues: InTableValue<QueueStatus>[]
  isComplete: boolean
}

export const listQueues = command(
  'listQueues',
  async (context, { table, ...request }: InTable & QueueRequest) => {
    const lists = await fromTables<QueueList>(context, { table }, async ({ store }) => [
      await store.listQueues(request),
    ])
    if (!lists.isDone) return lists
    return done<ListedQueues>({
      queues: lists.value.flatMap(({ table, value: { queues } }) =>
        queues.map((value) => ({ table, value })),
      ),
      isComplete: lists.value.every(({ value }) => value.isComplete),
    })
  },
)

export interface TrendInput extends InTable, Pick<TrendRequest, 'sinceMs'> {
  span: 'minute' | 'hour' | 'total'
  queue?: string | undefined
  type?: string | undefined
  limit?: number | undefined
}

const DAY_MS = 86_400_000

/** A total is the sum of minutes, and over more than 6 hours of hours. */
export const listTrends = command('listTrends', (context, { table, ...input }: TrendInput) =>
  fromTables<Trend>(context, { table }, ({ store }) => {
    const { sinceMs, span, queue, type, limit } = input
    if (span === 'total')
      return store.sumTrends({ sinceMs, spanMin: sinceMs <= DAY_MS / 4 ? 1 : 60, ...given({ queue, type }) })
    return store.listTrends({
      sinceMs,
      spanMin: span === 'minute' ? 1 : 60,
      ...given({ queue, type, limit }),
    })
  }),
)

export interface HoldInput extends InTable {
  name: string
  durationMs?: number | undefined
  reason?: string | undefined
}

export interface PauseChange {
  table: string
  queue: string
  isPaused: boolean
  isChanged: boolean
}

export const pauseQueue = command('pauseQueue', async (context, input: HoldInput) => {
  const table = await findTableOfQueue(context, input)
  if (!table.isDone) return table
  const isChanged = await table.value.store.pauseQueue(input.name, holdOptions(context, input))
  return done<PauseChange>({ table: table.value.name, queue: input.name, isPaused: true, isChanged })
})

export const resumeQueue = command('resumeQueue', async (context, input: HoldInput) => {
  const table = await findTableOfQueue(context, input)
  if (!table.isDone) return table
  const isChanged = await table.value.store.resumeQueue(input.name, manualOptions(context, input.reason))
  return done<PauseChange>({ table: table.value.name, queue: input.name, isPaused: false, isChanged })
})

export interface LimitInput extends InTable {
  name: string
  limits: QueueLimits
  reason?: string | undefined
}

export const limitQueue = command('limitQueue', async (context, input: LimitInput) => {
  const table = await findTableOfQueue(context, input)
  if (!table.isDone) return table
  const { name, limits, reason } = input
  const isChanged = await table.value.store.limitQueue(name, limits, manualOptions(context, reason))
  return done<LimitChange>({ table: table.value.name, queue: name, isChanged })
})

export interface LimitChange {
  table: string
  queue: string
  isChanged: boolean
}

/** Without a named table, the only one that has the queue: `queues pause asr` must not pause an unused queue. */
async function findTableOfQueue(
  context: CommandContext,
  input: InTable & { name: string },
): Promise<Answer<CommandTable>> {
  if (input.table !== undefined || context.tables.length === 1) return findTable(context, input.table)
  const having: CommandTable[] = []
  for (const table of context.tables)
    if ((await table.store.listQueues({ queues: [input.name], countLimit: 1 })).queues.length > 0)
      having.push(table)
  const [found, another] = having
  return done(found !== undefined && another === undefined ? found : context.tables[0])
}

/** Shared by all tables. */
export const listBreakers = command('listBreakers', async ({ tables }) =>
  done<Breaker[]>(await tables[0].store.listBreakers()),
)

export const readBreaker = command('listBreakers', (context, name: string) => findBreaker(context, name))

export const holdBreaker = command('holdBreaker', async (context, input: HoldInput) => {
  const known = await findBreaker(context, input.name)
  if (!known.isDone) return known
  return done<Breaker>(await context.tables[0].store.holdBreaker(input.name, holdOptions(context, input)))
})

export const resumeBreaker = command('resumeBreaker', async (context, input: HoldInput) => {
  const known = await findBreaker(context, input.name)
  if (!known.isDone) return known
  const options = manualOptions(context, input.reason)
  return done<Breaker>(await context.tables[0].store.resumeBreaker(input.name, options))
})

/** A mistyped name would create a breaker that no queue uses. */
async function findBreaker({ tables }: CommandContext, name: string): Promise<Answer<Breaker>> {
  const breakers = await tables[0].store.listBreakers()
  const found = breakers.find((breaker) => breaker.name === name)
  if (found !== undefined) return done(found)
  const known = breakers.map((breaker) => breaker.name).join(', ')
  return refused('NOT_FOUND', `no breaker is called ${name.slice(0, 200)}`, {
    hint: known === '' ? 'No dependency has a breaker yet.' : `Breakers: ${known}.`,
  })
}

export const listSchedules = command('listSchedules', (context, input: InTable) =>
  fromTables<Schedule>(context, input, async ({ store }) => (await store.listSchedules()).schedules),
)

export interface SweepAnswer {
  table: string
  reaped: ReapedJob[]
  requeuedIds: string[]
  failedIds: string[]
  held: number
  holdReason: string | null
  durationMs: number
}

/** Verdicts of a sweep at this moment. Changes nothing (REAP-13). */
export const previewSweep = command('previewSweep', async (context, input: InTable) => {
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const startedAt = performance.now()
  const reaped = await table.value.store.previewSweep(policyOf(context))
  const ids = (action: ReapedJob['action']) =>
    reaped.filter((job) => job.action === action).map(({ jobId }) => jobId)
  const [requeuedIds, failedIds] = [ids('requeued'), ids('dead')]
  return done<SweepAnswer>({
    table: table.value.name,
    reaped,
    requeuedIds,
    failedIds,
    held: 0,
    holdReason: null,
    durationMs: Math.round(performance.now() - startedAt),
  })
})

export const sweep = command('sweep', async (context, input: InTable & { reason?: string | undefined }) => {
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const options = { ...policyOf(context), ...manualOptions(context, input.reason) }
  return done<SweepAnswer>({ table: table.value.name, ...(await runSweep(table.value.store, options)) })
})

export interface TableHealth extends Health {
  sweepIntervalMs: number
  isHealthy: boolean
}

export const readHealth = command('readHealth', (context, input: InTable) =>
  fromTables<TableHealth>(context, input, async ({ store }) => {
    const [health, stored] = [await store.readHealth(policyOf(context)), await store.readPolicy()]
    const sweepIntervalMs = context.policy?.sweepIntervalMs ?? stored.sweepIntervalMs
    // Nobody knows how a shard is that does not answer.
    const isHealthy = isTableHealthy(health, sweepIntervalMs) && health.silentShards === undefined
    return [{ ...health, sweepIntervalMs, isHealthy }]
  }),
)

/** Shared by all tables. */
export const listRateLimits = command(
  'listRateLimits',
  async ({ tables }, { prefix, limit }: { prefix?: string | undefined; limit: number }) => {
    return done<RateLimitStatus[]>(await tables[0].store.listRateLimits({ limit, ...given({ prefix }) }))
  },
)

function holdOptions(context: CommandContext, { reason, durationMs }: HoldInput) {
  return { ...manualOptions(context, reason), ...given({ durationMs }) }
}
