// Sweeps and retention of all shards, for commands. Reapers and workers sweep each shard on its own.
import type {
  PastSweep,
  ReapingStore,
  Reclaim,
  Shard,
  StaleJobs,
  StaleRequest,
  SweepPage,
  SweepStep,
} from '../../job-store.ts'
import { type CursorMap, readCursor, writeCursor } from '../merge/cursors.ts'
import { readHistory } from '../merge/merged-pages.ts'
import { readAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindReaping<Tx>(shards: ShardSet<Tx>): ReapingStore {
  return {
    async sweepJobs({ cursor, ...request } = {}) {
      const { steps, next } = await stepAll(shards, cursor, ({ store }, own) =>
        store.sweepJobs({ ...request, ...own }),
      )
      return mergeSteps(steps, next)
    },
    async previewSweep(options) {
      const { answers } = await readAll(shards, ({ store }) => store.previewSweep(options))
      return answers.flatMap(({ answer }) => answer).slice(0, options?.limit)
    },
    async pruneJobs({ cursor, ...request } = {}) {
      const { steps, next } = await stepAll(shards, cursor, ({ store }, own) =>
        store.pruneJobs({ ...request, ...own }),
      )
      return { deleted: sum(steps.map(({ deleted }) => deleted)), next }
    },
    ...bindHistory(shards),
  }
}

/** One step in each shard that is not done, from its own cursor. */
async function stepAll<Tx, Step extends { next: string | null }>(
  shards: ShardSet<Tx>,
  cursor: string | undefined,
  step: (shard: Shard<Tx>, own: { cursor?: string }) => Promise<Step>,
): Promise<{ steps: Step[]; next: string | null }> {
  const cursors = readCursor(cursor, shards.all)
  const { answers } = await readAll(
    shards,
    (shard) => {
      const own = cursors.get(shard.number) ?? null
      return step(shard, own === null ? {} : { cursor: own })
    },
    shards.all.filter(({ number }) => cursors.has(number)),
  )
  const next: CursorMap = new Map()
  for (const { shard, answer } of answers) if (answer.next !== null) next.set(shard.number, answer.next)
  return { steps: answers.map(({ answer }) => answer), next: writeCursor(next) }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

function mergeSteps(steps: SweepStep[], next: string | null): SweepStep {
  return {
    reaped: steps.flatMap(({ reaped }) => reaped),
    held: sum(steps.map(({ held }) => held)),
    holdReason: steps.find(({ holdReason }) => holdReason !== null)?.holdReason ?? null,
    // The earliest: no shard was swept before it.
    sweptAt: steps.map(({ sweptAt }) => sweptAt).reduce((a, b) => (a < b ? a : b)),
    next,
    isRedundant: steps.length > 0 && steps.every(({ isRedundant }) => isRedundant === true),
    isWatched: steps.every(({ isWatched }) => isWatched !== false),
  }
}

/** Past rescues, and jobs that wait for theirs. */
function bindHistory<Tx>(
  shards: ShardSet<Tx>,
): Pick<ReapingStore, 'listReclaims' | 'listStaleJobs' | 'listSweeps'> {
  return {
    async listReclaims({ before, limit, ...request } = {}) {
      const { items, ...page } = await readHistory<Tx, Reclaim>(
        shards,
        { cursor: before, limit },
        {
          async list({ store }, cursor, size) {
            const { reclaims, next } = await store.listReclaims({ ...request, ...pageOf(cursor, size) })
            return { items: reclaims, next }
          },
          timeOf: ({ reapedAt }) => reapedAt,
          idOf: ({ reclaimId }) => reclaimId,
        },
      )
      return { reclaims: items, ...page }
    },
    listStaleJobs: (request) => listStaleJobs(shards, request),
    async listSweeps({ before, limit } = {}) {
      let last: SweepPage['last'] = null
      const { items, ...page } = await readHistory<Tx, PastSweep>(
        shards,
        { cursor: before, limit },
        {
          async list({ store }, cursor, size) {
            const own = await store.listSweeps(pageOf(cursor, size))
            if (last === null || (own.last !== null && own.last.sweptAt > last.sweptAt)) last = own.last
            return { items: own.sweeps, next: own.next }
          },
          timeOf: ({ beganAt }) => beganAt,
          idOf: ({ sweepId }) => sweepId,
        },
      )
      return { last, sweeps: items, ...page }
    },
  }
}

const pageOf = (before: string | undefined, limit: number) =>
  before === undefined ? { limit } : { limit, before }

async function listStaleJobs<Tx>(shards: ShardSet<Tx>, request?: StaleRequest): Promise<StaleJobs> {
  const { answers, silence } = await readAll(shards, ({ store }) => store.listStaleJobs(request))
  const jobs = answers.flatMap(({ answer }) => answer.jobs)
  const endOf = (endedAt: Date | null) => endedAt?.getTime() ?? Number.POSITIVE_INFINITY
  return {
    jobs: jobs.toSorted((a, b) => endOf(a.endedAt) - endOf(b.endedAt)).slice(0, request?.limit ?? 100),
    count: sum(answers.map(({ answer }) => answer.count)),
    ...silence,
  }
}
