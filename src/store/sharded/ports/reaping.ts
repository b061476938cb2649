// Sweeps and retention of all shards, for commands. Reapers and workers sweep each shard on its own.
import type { ReapingStore, StaleJobs, StaleRequest, SweepPage, SweepStep } from '../../job-store.ts'
import { type CursorMap, readCursor, writeCursor } from '../merge/cursors.ts'
import { readPages } from '../merge/merged-pages.ts'
import { readAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindReaping<Tx>(shards: ShardSet<Tx>): ReapingStore {
  return {
    async sweepJobs({ cursor, ...request } = {}) {
      const cursors = readCursor(cursor, shards.all)
      const { answers } = await readAll(
        shards,
        ({ number, store }) => store.sweepJobs({ ...request, ...cursorOf(cursors, number) }),
        shards.all.filter(({ number }) => cursors.has(number)),
      )
      return mergeSteps(answers.map(({ shard, answer }) => ({ number: shard.number, step: answer })))
    },
    async previewSweep(options) {
      const { answers } = await readAll(shards, ({ store }) => store.previewSweep(options))
      return answers.flatMap(({ answer }) => answer).slice(0, options?.limit)
    },
    async pruneJobs({ cursor, ...request } = {}) {
      const cursors = readCursor(cursor, shards.all)
      const next: CursorMap = new Map()
      let deleted = 0
      const { answers } = await readAll(
        shards,
        ({ number, store }) => store.pruneJobs({ ...request, ...cursorOf(cursors, number) }),
        shards.all.filter(({ number }) => cursors.has(number)),
      )
      for (const { shard, answer } of answers) {
        deleted += answer.deleted
        if (answer.next !== null) next.set(shard.number, answer.next)
      }
      return { deleted, next: writeCursor(next) }
    },
    ...bindHistory(shards),
  }
}

const cursorOf = (cursors: CursorMap, number: number) => {
  const cursor = cursors.get(number) ?? null
  return cursor === null ? {} : { cursor }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

function mergeSteps(steps: { number: number; step: SweepStep }[]): SweepStep {
  const next: CursorMap = new Map()
  for (const { number, step } of steps) if (step.next !== null) next.set(number, step.next)
  return {
    reaped: steps.flatMap(({ step }) => step.reaped),
    held: sum(steps.map(({ step }) => step.held)),
    holdReason: steps.find(({ step }) => step.holdReason !== null)?.step.holdReason ?? null,
    // The earliest: no shard was swept before it.
    sweptAt: steps.map(({ step }) => step.sweptAt).reduce((a, b) => (a < b ? a : b)),
    next: writeCursor(next),
    isRedundant: steps.length > 0 && steps.every(({ step }) => step.isRedundant === true),
    isWatched: steps.every(({ step }) => step.isWatched !== false),
  }
}

/** Past rescues, and jobs that wait for theirs. */
function bindHistory<Tx>(
  shards: ShardSet<Tx>,
): Pick<ReapingStore, 'listReclaims' | 'listStaleJobs' | 'listSweeps'> {
  return {
    async listReclaims({ before, limit, ...request } = {}) {
      const {
        items,
        next,
        searchedTo: _,
        ...silence
      } = await readPages(
        shards,
        { cursor: before, limit },
        {
          read: async ({ store }, cursor, size) => {
            const page = await store.listReclaims({
              ...request,
              limit: size,
              ...(cursor === undefined ? {} : { before: cursor }),
            })
            return {
              items: page.reclaims,
              next: page.next,
              searchedTo: page.next === null ? null : (page.reclaims.at(-1)?.reapedAt ?? null),
            }
          },
          timeOf: ({ reapedAt }) => reapedAt,
          idOf: ({ reclaimId }) => reclaimId,
        },
      )
      return { reclaims: items, next, ...silence }
    },
    listStaleJobs: (request) => listStaleJobs(shards, request),
    async listSweeps({ before, limit } = {}) {
      let last: SweepPage['last'] = null
      const {
        items,
        next,
        searchedTo: _,
        ...silence
      } = await readPages(
        shards,
        { cursor: before, limit },
        {
          read: async ({ store }, cursor, size) => {
            const page = await store.listSweeps({
              limit: size,
              ...(cursor === undefined ? {} : { before: cursor }),
            })
            if (last === null || (page.last !== null && page.last.sweptAt > last.sweptAt)) last = page.last
            return {
              items: page.sweeps,
              next: page.next,
              searchedTo: page.next === null ? null : (page.sweeps.at(-1)?.beganAt ?? null),
            }
          },
          timeOf: ({ beganAt }) => beganAt,
          idOf: ({ sweepId }) => sweepId,
        },
      )
      return { last, sweeps: items, next, ...silence }
    },
  }
}

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
