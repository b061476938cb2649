// Tells an outside queue of the jobs that wait again: what the engine noted is taken, published and forgotten, after the
// commit of whoever put the jobs back (REAP-12). Any number of dispatchers may run; a lease on each note keeps them apart.
import type { RuntimeEventEmitter } from '../observe/events.ts'
import type { DispatchedJob, DispatchStore, TakenDispatch } from '../store/ports/dispatch-store.ts'
import type { ModeStore } from '../store/ports/mode-store.ts'
import { repeat } from './repeat.ts'
import { StandBy } from './stand-by.ts'
import { wait } from './wait.ts'

export interface DispatchAdapter {
  /** Resolves when all are published. Called again with the same `dispatchId` where nobody knows whether they were. */
  publish(jobs: DispatchedJob[]): Promise<void>
}

export interface DispatcherOptions {
  /** What events call the table. */
  table: string
  store: DispatchStore & Pick<ModeStore, 'readMode'>
  adapter: DispatchAdapter
  events?: Pick<RuntimeEventEmitter, 'emit'>
  /** Between two looks where nobody calls `wake`: 5 s where absent. */
  intervalMs?: number
  /** 100 where absent. */
  batchSize?: number
  /** A publish that takes longer (30 s where absent) counts as failed, and others may take its jobs. */
  leaseMs?: number
}

export interface Dispatcher {
  /** Looks at once: after a sweep there may be something. */
  wake(): void
  /** Settles when the publish that was under way has ended. */
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

  /** Until nothing is due, or nothing can be published. */
  async function dispatchDue(stopping: AbortSignal): Promise<void> {
    try {
      while (!stopping.aborted) {
        const taken = await standBy.act(() => store.takeDispatches({ limit: batchSize, leaseMs }), [])
        if (taken.length === 0 || !(await dispatchBatch(taken, stopping))) return
      }
    } catch (error) {
      // The store is away, so nobody can tell how many wait. What was taken comes again when its lease is over.
      events?.emit('dispatch:failed', { table, error, waiting: 0 })
    }
  }

  /** Answers whether any was published. */
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

/** One job that cannot be published does not hold back the others: they are tried one by one while half the lease lasts. */
async function publishBatch(
  adapter: DispatchAdapter,
  taken: TakenDispatch[],
  leaseMs: number,
  stopping: AbortSignal,
): Promise<PublishedBatch> {
  const startedAt = performance.now()
  const leftMs = (share: number) => leaseMs * share - (performance.now() - startedAt)
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
  // One that hangs does not hold up a stop for long: its jobs are taken again.
  let lastWait: NodeJS.Timeout | undefined
  const giveUp = () => {
    lastWait = setTimeout(() => ended.abort(), STOP_WAIT_MS)
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
    clearTimeout(lastWait)
    ended.abort()
  }
}
