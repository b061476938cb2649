// A worker reports to every shard, since its jobs may be in any of them.
import type { DrainOutcome, WorkerState, WorkerStatus, WorkerStore } from '../../job-store.ts'
import { readAll, writeAll, writeAnswering } from '../routing/fan-out.ts'
import { groupBy } from '../routing/group-by.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindWorkers<Tx>(shards: ShardSet<Tx>): WorkerStore {
  return {
    async reportWorker(report) {
      const answers = await writeAnswering(shards, ({ store }) => store.reportWorker(report))
      const [first] = answers
      return {
        ...first,
        isDrainRequested: answers.some(({ isDrainRequested }) => isDrainRequested),
        isSweepDue: answers.some(({ isSweepDue }) => isSweepDue),
        isWatched: answers.every(({ isWatched }) => isWatched),
        hasWebhooks: answers.some(({ hasWebhooks }) => hasWebhooks),
      }
    },
    async listWorkers() {
      const { answers } = await readAll(shards, ({ store }) => store.listWorkers())
      const byId = groupBy(
        answers.flatMap(({ answer }) => answer),
        ({ workerId }) => workerId,
      )
      return [...byId.values()].map(({ items }) => mergeWorker(items)).toSorted((a, b) => a.seenMs - b.seenMs)
    },
    async drainWorker(workerId, options) {
      const outcomes = await writeAll(shards, ({ store }) => store.drainWorker(workerId, options))
      const order: DrainOutcome[] = ['asked', 'already-asked', 'stopped', 'not-found']
      return order.find((each) => outcomes.includes(each)) ?? 'not-found'
    },
  }
}

/** The state that asks for attention first. */
const states: WorkerState[] = ['zombie', 'draining', 'live', 'late', 'silent', 'stopped', 'gone']

function mergeWorker(parts: WorkerStatus[]): WorkerStatus {
  const newest = parts.toSorted((a, b) => a.seenMs - b.seenMs)[0] as WorkerStatus
  const leases = parts.reduce((total, part) => total + part.leases, 0)
  return {
    ...newest,
    state: states.find((state) => parts.some((part) => part.state === state)) ?? 'gone',
    // Its slots serve all shards; the other leases are claimed ahead.
    running: Math.min(leases, newest.concurrency),
    leases,
  }
}
