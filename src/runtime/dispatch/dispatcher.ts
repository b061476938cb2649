// Publishes requeued jobs to an external queue. The engine records a dispatch in the transaction that requeues a job; after
// its commit a dispatcher takes it, publishes it and deletes it (REAP-12). Any number of dispatchers may run; a lease on each
// dispatch keeps them apart.
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { DispatchedJob, DispatchStore, TakenDispatch } from '../../store/ports/dispatch-store.ts'
import type { ModeStore } from '../../store/ports/mode-store.ts'
import { StandBy } from '../services/stand-by.ts'
import { repeat } from '../timing/repeat.ts'
import { type Timer, timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'

export interface DispatchAdapter {
  /** Resolves when all are published. Called again with the same `dispatchId` if the outcome is unknown. */
  publish(jobs: DispatchedJob[]): Promise<void>
}

export interface DispatcherOptions {
  /** Name of the table in events. */
  table: string
  store: DispatchStore & Pick<ModeStore, 'readMode'>
  adapter: DispatchAdapter
  events?: Pick<RuntimeEventEmitter, 'emit'>
  /** Interval between two looks if nobody calls `wake`. Default: 5 s. */
  intervalMs?: number
  /** Default: 100. */
  batchSize?: number
  /** A publish that takes longer counts as failed, and other dispatchers may take its jobs. Default: 30 s. */
  leaseMs?: number
}

export interface Dispatcher {
  /** Looks now: a sweep may have requeued jobs. */
  wake(): void
  /** Resolves when the current publish has ended. */
  stop(): Promise<void>
}

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { table, store, adapter, events } = options
  const { intervalMs = 5_000, batchSize = 100, leaseMs = 30_000 } = options
  const standBy = new StandBy({ service: 'dispatch', store, events })
  return repeat(async (stopping) => {
    await dispatchDue(stopping)
    return intervalMs
  })

  /** Publishes until nothing is due or nothing can be published. */
  async function dispatchDue(stopping: AbortSignal): Promise<void> {
    try {
      while (!stopping.aborted) {
        const taken = await standBy.act(() => store.takeDispatches({ limit: batchSize, leaseMs }), [])
        if (taken.length === 0 || !(await dispatchBatch(taken, stopping))) return
      }
    } catch (error) {
      // The store is unreachable, so the number pending is unknown. Dispatches taken come back when their lease expires.
      events?.emit('dispatch:failed', { table, error, waiting: 0 })
    }
  }

  /** Returns whether any was published. */
  async function dispatchBatch(taken: TakenDispatch[], stopping: AbortSignal): Promise<boolean> {
    const { published, failed, error } = await publishBatch(adapter, taken, leaseMs, stopping)
    await store.finishDispatches(published)
    if (published.length > 0) events?.emit('dispatch:done', { table, published: published.length })
    if (failed.length > 0) {
      await store.failDispatches(failed, error instanceof Error ? error.message : String(error))
      events?.emit('dispatch:failed', { table, error, waiting: await store.countDispatches() })
    }
    return published.length > 0
  }
}

const STOP_WAIT_MS = 2_000

interface PublishedBatch {
  published: TakenDispatch[]
  failed: TakenDispatch[]
  error?: unknown
}

/** A job that cannot be published does not block the others: they are tried one by one, for half the lease. */
async function publishBatch(
  adapter: DispatchAdapter,
  taken: TakenDispatch[],
  leaseMs: number,
  stopping: AbortSignal,
): Promise<PublishedBatch> {
  const startedAt = timing.nowMs()
  const leftMs = (share: number) => leaseMs * share - (timing.nowMs() - startedAt)
  const whole = await publish(adapter, taken, leftMs(1), stopping)
  if (whole === 'published') return { published: taken, failed: [] }
  const batch: PublishedBatch = { published: [], failed: [], error: whole.error }
  for (const one of taken) {
    const isTried = taken.length > 1 && leftMs(0.5) > 0 && !stopping.aborted
    const answer = isTried ? await publish(adapter, [one], leftMs(1), stopping) : whole
    if (answer === 'published') batch.published.push(one)
    else {
      batch.failed.push(one)
      batch.error = answer.error
    }
  }
  return batch
}

async function publish(
  adapter: DispatchAdapter,
  jobs: TakenDispatch[],
  limitMs: number,
  stopping: AbortSignal,
): Promise<'published' | { error: unknown }> {
  const ended = new AbortController()
  // A publish that hangs delays a stop only briefly: its jobs are taken again.
  let lastWait: Timer | undefined
  const giveUp = () => {
    lastWait = timing.setTimeout(() => ended.abort(), STOP_WAIT_MS)
  }
  stopping.addEventListener('abort', giveUp)
  try {
    return await Promise.race([
      adapter.publish(jobs).then(() => 'published' as const),
      wait(limitMs, ended.signal).then(() => ({
        error: new Error(stopping.aborted ? 'stopped' : `not published within ${Math.round(limitMs)} ms`),
      })),
    ])
  } catch (error) {
    return { error }
  } finally {
    stopping.removeEventListener('abort', giveUp)
    timing.clearTimeout(lastWait)
    ended.abort()
  }
}
