// Reads that the memory verbs cannot do on a part of the graph: waiting jobs are counted, not loaded.

import type { Health, JobFilter, JobPage, ListOptions, QueueList, QueueRequest } from '../../job-store.ts'
import { composeQueues, type WaitingQueues } from '../../memory/dependencies/queues.ts'
import { composeHealth } from '../../memory/reading/health.ts'
import { checkFilter, listJobs as listInMemory } from '../../memory/reading/list-jobs.ts'
import { CountRounds, MAX_QUEUES, type WaitingCount } from '../../memory/reading/waiting-counts.ts'
import { checkCountLimit, checkWhole } from '../../memory/state/checks.ts'
import { COUNT_LIMIT, type CountOption, type PolicyOption } from '../../ports/call-options.ts'
import type { Row, Run } from '../graph/graph.ts'
import { fromDateTime, statusWord, toInteger, toJob } from '../state/job-node.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { BEFORE_ALL_PRIORITIES } from './due-jobs.ts'

const AFTER_ALL_IDS = '\uffff'
const MAX_LEVELS = 1_000

const kinds = ['pauses', 'breakers', 'dependencies'] as const

export async function readHealth({ look }: VerbRunner, options: PolicyOption & CountOption): Promise<Health> {
  const { countLimit = COUNT_LIMIT } = options
  checkCountLimit(countLimit)
  return look({ kinds, find: [['list_running']] }, async (state, run) => {
    const counted = await countWaiting(run, undefined, countLimit)
    const { oldestMs, isCut: isOldestCut } = await oldestDue(run, [...counted.counts.keys()])
    const oldestDueMs = oldestMs === null ? null : state.nowMs() - oldestMs
    const listed = composeQueues(state, counted, undefined, countLimit)
    return composeHealth(state, { ...listed, oldestDueMs, isOldestCut }, options)
  })
}

export async function listQueues({ look }: VerbRunner, request: QueueRequest): Promise<QueueList> {
  const { queues, countLimit = COUNT_LIMIT } = request
  checkCountLimit(countLimit)
  return look({ kinds, find: [['list_running']] }, async (state, run) =>
    composeQueues(state, await countWaiting(run, queues, countLimit), queues, countLimit),
  )
}

/** Queues with waiting jobs, counted as in memory. */
async function countWaiting(
  run: Run,
  asked: string[] | undefined,
  countLimit: number,
): Promise<WaitingQueues> {
  const found =
    asked === undefined ? await waitingQueues(run, countLimit) : { queues: asked, isComplete: true }
  const queues = asked ?? found.queues.slice(0, MAX_QUEUES)
  const rounds = new CountRounds(queues, countLimit)
  while (rounds.queues.length > 0) {
    const rows = await run('count_waiting', { queues: rounds.queues, share: toInteger(rounds.share) })
    rounds.take(new Map(rows.map((row) => [row['queue'] as string, toCount(row)])))
  }
  const counts = [...rounds.counts].filter(([, { waiting }]) => waiting > 0)
  return { counts: new Map(counts), isComplete: found.isComplete && queues.length === found.queues.length }
}

/** Not complete if there are more waiting jobs than were read. */
async function waitingQueues(
  run: Run,
  countLimit: number,
): Promise<{ queues: string[]; isComplete: boolean }> {
  const limit = Math.max(countLimit, MAX_QUEUES)
  const rows = await run('waiting_queues', { limit: toInteger(limit) })
  const read = rows.reduce((sum, row) => sum + Number(row['waiting']), 0)
  return { queues: rows.map((row) => row['queue'] as string), isComplete: read < limit }
}

/** As oldest_due of SQL: the first job of each queue and priority, `MAX_LEVELS` at most. */
async function oldestDue(run: Run, queues: string[]): Promise<{ oldestMs: number | null; isCut: boolean }> {
  const due: number[] = []
  let levels = 0
  for (const queue of queues) {
    for (let priority = BEFORE_ALL_PRIORITIES; levels < MAX_LEVELS; levels++) {
      const [row] = await run('next_level', { queue, priority: toInteger(priority) })
      if (row === undefined) break
      priority = Number(row['priority'])
      if (row['isDue'] === true) due.push(fromDateTime(row['due'])?.getTime() ?? 0)
    }
  }
  return { oldestMs: due.length === 0 ? null : Math.min(...due), isCut: levels === MAX_LEVELS }
}

function toCount(row: Row): WaitingCount {
  return {
    waiting: Number(row['waiting']),
    due: Number(row['due']),
    releasedOften: Number(row['releasedOften']),
    oldestDueAtMs: fromDateTime(row['oldestDue'])?.getTime() ?? null,
  }
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
  const isRunning = filter.status === 'running' || filter.workerId !== undefined
  const statement = isRunning ? 'list_running_jobs' : 'list_jobs'
  const found = await graph.read((run) => run(statement, parameters))
  const candidates = found.map((row) => toJob(row['job']))
  const ids = candidates.map(({ id }) => id)
  const last = candidates.length < limit ? undefined : candidates.at(-1)
  return look({ find: [['list_jobs_by_id', { ids }]] }, (state) => {
    const page = listInMemory(state, filter, { ...others, limit })
    return { ...page, next: last?.id ?? null, searchedTo: last?.createdAt ?? null }
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
