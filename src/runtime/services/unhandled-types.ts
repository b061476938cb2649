// Looks for jobs that no worker handles: a typo in a type, or a handler that was forgotten, would wait unseen. Only types whose
// workers were never seen count; those of a fleet that is scaled to zero were.
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import { describeMissingWorker } from '../../policy/explain/explain-workers.ts'
import type { JobStore } from '../../store/job-store.ts'
import { repeat } from '../timing/repeat.ts'
import { timing } from '../timing/timing.ts'

export interface UnhandledTypesOptions {
  table: string
  store: Pick<JobStore, 'listQueues' | 'listJobs' | 'readJobFacts'>
  events: Pick<RuntimeEventEmitter, 'emit'>
  /** Queues that this worker claims from. */
  queues: string[]
  /** Default: 10 s. */
  firstLookMs?: number
  /** Default: five minutes: at one, 200 idle workers made 0.02 more calls a second each. */
  intervalMs?: number
}

export interface UnhandledTypes {
  /** One sentence per type. */
  problems(): string[]
  stop(): Promise<void>
}

/** Jobs that have waited less may be claimed by a worker that is starting. */
const LEAST_AGE_MS = 10_000
/** Queues of others that are looked into at a time, by one job each. */
const MOST_QUEUES = 20
const COUNT_LIMIT = 1_000

interface Unhandled {
  type: string
  queue: string
  waiting: number
  reason: string
}

export function watchUnhandledTypes(options: UnhandledTypesOptions): UnhandledTypes {
  const { table, events, firstLookMs = LEAST_AGE_MS, intervalMs = 300_000 } = options
  let known = new Map<string, Unhandled>()
  let hasLooked = false
  const repetition = repeat(async (stopping) => {
    if (!hasLooked && firstLookMs > 0) {
      hasLooked = true
      return firstLookMs
    }
    // A store that cannot answer now answers at the next look.
    const found = await findUnhandled(options, stopping).catch(() => known)
    for (const [type, unhandled] of found)
      if (!known.has(type)) events.emit('type:unhandled', { table, ...unhandled })
    known = found
    // Workers that started together look at different times.
    return intervalMs * (0.9 + 0.2 * timing.random())
  })
  return {
    problems: () => Array.from(known.values(), ({ type, reason }) => `jobs of type ${type} wait: ${reason}`),
    stop: () => repetition.stop(),
  }
}

async function findUnhandled(
  { store, queues }: UnhandledTypesOptions,
  stopping: AbortSignal,
): Promise<Map<string, Unhandled>> {
  const found = new Map<string, Unhandled>()
  const listed = await store.listQueues({ countLimit: COUNT_LIMIT })
  const others = listed.queues.filter(({ queue, waiting }) => waiting > 0 && !queues.includes(queue))
  for (const { queue, waiting } of others.slice(0, MOST_QUEUES)) {
    if (stopping.aborted) break
    const { jobs } = await store.listJobs(
      { queue, status: 'waiting', olderThanMs: LEAST_AGE_MS },
      { limit: 1 },
    )
    const [job] = jobs
    const facts = job === undefined ? null : await store.readJobFacts(job.id)
    if (facts === null || facts.workers?.lastSeenMs !== null) continue
    const reason = describeMissingWorker(facts.type, facts.workers)
    if (reason !== null) found.set(facts.type, { type: facts.type, queue, waiting, reason })
  }
  return found
}
