// Retention on a schedule (OPS-2): one pass over every table per interval, never two at once, and errors never stop it. Any
// number of pruners may run; the store lets one of them delete at a time.
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { JobStore } from '../../store/job-store.ts'
import { timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'
import { runPrune } from './run-prune.ts'
import { StandBy } from './stand-by.ts'

export interface PrunerOptions {
  tables: { name: string; store: JobStore }[]
  events: Pick<RuntimeEventEmitter, 'emit'>
  /** Default: one hour. */
  intervalMs?: number
  /** Default: that of the stored policy. */
  retentionDays?: number | undefined
}

export interface Pruner {
  /** Resolves when the current step has ended; the rest of the pass is left to the next one. */
  stop(): Promise<void>
}

const defaultIntervalMs = 3_600_000
/** Spreads the first passes of workers that a deploy starts together. */
const maxFirstDelayMs = 60_000
const bucketBatch = 1_000

export function startPruner(options: PrunerOptions): Pruner {
  const { tables, events, intervalMs = defaultIntervalMs, retentionDays } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const standing = tables.map((table) => ({
    ...table,
    standBy: new StandBy({ service: 'retention', store: table.store, events }),
  }))
  const loop = run()
  return {
    async stop() {
      stopping.abort()
      await loop
    },
  }

  async function run(): Promise<void> {
    await wait(timing.random() * Math.min(maxFirstDelayMs, intervalMs), signal)
    while (!signal.aborted) {
      for (const { name, store, standBy } of standing) await pruneTable(name, store, standBy)
      await wait(intervalMs, signal)
    }
  }

  async function pruneTable(table: string, store: JobStore, standBy: StandBy): Promise<void> {
    if (signal.aborted) return
    const startedAt = timing.nowMs()
    const options = {
      ...(retentionDays === undefined ? {} : { retentionDays }),
      isShared: true,
      onStep: () => signal.throwIfAborted(),
    }
    try {
      const deleted = await standBy.act(() => runPrune(store, options), null)
      await pruneBuckets(store)
      if (deleted === null) return
      events.emit('prune:done', { table, deleted, durationMs: timing.nowMs() - startedAt })
    } catch (error) {
      if (!signal.aborted) events.emit('prune:failed', { table, error })
    }
  }

  /** Tables of one schema share the buckets, so all but the first find none. */
  async function pruneBuckets(store: JobStore): Promise<void> {
    let forgotten = bucketBatch
    while (forgotten === bucketBatch && !signal.aborted) forgotten = await store.pruneRateLimits(bucketBatch)
  }
}
