// Reads that the memory verbs cannot do on a part of the graph: waiting jobs are counted, not loaded.

import type { PolicyOverride } from '../../../policy/policy.ts'
import type { Health, JobFilter, JobPage, ListOptions, QueueStatus } from '../../job-store.ts'
import { listQueues as queuesInMemory } from '../../memory/dependencies/queues.ts'
import { readHealth as healthInMemory } from '../../memory/reading/health.ts'
import { checkFilter, listJobs as listInMemory } from '../../memory/reading/list-jobs.ts'
import { checkWhole } from '../../memory/state/checks.ts'
import { emptyRow } from '../../memory/state/new-job.ts'
import type { Row } from '../graph/graph.ts'
import { fromDateTime, statusWord, toInteger, toJob } from '../state/job-node.ts'
import type { VerbRunner } from '../state/verb-runner.ts'

const AFTER_ALL_IDS = '\uffff'

export function readHealth({ look }: VerbRunner, override: PolicyOverride | undefined): Promise<Health> {
  return look({ find: [['list_running']] }, async (state, run) => {
    const counts = await run('count_waiting')
    const oldest = counts.flatMap((row) => fromDateTime(row['oldest'])?.getTime() ?? [])
    const dueMs = state.nowMs() - Math.min(...oldest)
    return {
      ...healthInMemory(state, override),
      waiting: sum(counts, 'waiting'),
      due: sum(counts, 'due'),
      releasedOften: sum(counts, 'releasedOften'),
      oldestDueMs: oldest.length > 0 && dueMs >= 0 ? dueMs : null,
    }
  })
}

export function listQueues({ look }: VerbRunner): Promise<QueueStatus[]> {
  const kinds = ['pauses', 'breakers', 'dependencies'] as const
  return look({ kinds, find: [['list_running']] }, async (state, run) => {
    const counts = new Map((await run('count_waiting')).map((row) => [row['queue'] as string, row]))
    // One placeholder stands for all waiting jobs of a queue, so that the queue is listed.
    for (const queue of counts.keys())
      state.jobs.set(`in ${queue}`, { ...emptyRow(`in ${queue}`, new Date(state.nowMs())), queue })
    return queuesInMemory(state).map((status) => ({
      ...status,
      waiting: Number(counts.get(status.queue)?.['waiting'] ?? 0),
      due: Number(counts.get(status.queue)?.['due'] ?? 0),
    }))
  })
}

function sum(rows: Row[], name: string): number {
  return rows.reduce((total, row) => total + Number(row[name]), 0)
}

/** Indexed fields are filtered in the graph and the rest here, so a page may be short and still have a `next`. */
export async function listJobs(
  { graph, look }: VerbRunner,
  filter: JobFilter,
  options: ListOptions,
): Promise<JobPage> {
  checkFilter(filter)
  checkWhole(options.limit, 'limit', 1, 1000)
  const { cursor, limit = 100, ...others } = options
  const parameters = { ...toParameters(filter), before: cursor ?? AFTER_ALL_IDS, limit: toInteger(limit) }
  const statement = filter.status === 'running' ? 'list_running_jobs' : 'list_jobs'
  const found = await graph.read((run) => run(statement, parameters))
  const ids = found.map((row) => toJob(row['job']).id)
  return look({ find: [['list_jobs_by_id', { ids }]] }, (state) => {
    const page = listInMemory(state, filter, { ...others, limit })
    return { ...page, next: ids.length < limit ? null : (ids.at(-1) ?? null) }
  })
}

function toParameters({ status, type, queue, owner, workerId, errorCode, causeId }: JobFilter) {
  const isEnded = status === 'dead' || status === 'cancelled'
  return {
    status: status === undefined ? null : statusWord(status),
    isCancelled: isEnded ? status === 'cancelled' : null,
    type: type ?? null,
    queue: queue ?? null,
    owner: owner ?? null,
    lockOwner: workerId ?? null,
    errorCode: errorCode ?? null,
    causeId: causeId ?? null,
  }
}
