// Finds and locks the next jobs of a claim, in the order of the claim index (ADR 0036).
import type { Job } from '../../../job/job.ts'
import type { ClaimRequest } from '../../job-store.ts'
import type { Row, Run } from '../graph/graph.ts'
import { BUCKETS, toInteger, toJob } from '../state/job-node.ts'

export interface DueRequest extends Pick<ClaimRequest, 'queues' | 'types' | 'limit'> {
  /** Excluded ids. */
  passed: string[]
  /** Only jobs of this bucket. Null: the order of the whole queue. */
  bucket: number | null
}

export const BEFORE_ALL_PRIORITIES = -2_147_483_649
/** Jobs read beyond the limit: some at the head of a queue may not be due yet. */
const SPARE = 10
/** A bucket has one job of eight on average; a claim that finds too few goes by the order of the queue. */
const BUCKET_WINDOW = 2 * BUCKETS
const MAX_PAGES = 1_000

export async function lockDueJobs(run: Run, request: DueRequest): Promise<Job[]> {
  const { types, passed, limit, bucket } = request
  const next = await findDueJobs(run, request)
  if (next.length === 0) return []
  const paths = new Set(next.map((job) => `${job.queue}/${bucket ?? job.bucket}`))
  const levels = new Map(
    next.map(({ queue, priority }) => [`${priority} ${queue}`, { queue, priority: toInteger(priority) }]),
  )
  const rows = await run('lock_due', {
    buckets: [...paths].toSorted(),
    levels: [...levels.values()],
    types: types ?? null,
    passed,
    limit: toInteger(limit),
    window: toInteger(bucket === null ? limit : limit * BUCKET_WINDOW),
    bucket: toInteger(bucket),
  })
  return rows.map((row) => toJob(row['job']))
}

interface DueJob {
  id: string
  queue: string
  priority: number
  dueMs: number
  isDue: boolean
  bucket: number
}

/** Reads a page of each queue. Within a priority due jobs come first, so the page after one that is not due begins at the next priority. */
async function findDueJobs(run: Run, { queues, types, passed, limit }: DueRequest): Promise<DueJob[]> {
  const window = limit + SPARE
  const due = new Map<string, DueJob>()
  let cursors = queues.map((queue) => ({ queue, after: BEFORE_ALL_PRIORITIES }))
  for (let page = 0; cursors.length > 0 && page < MAX_PAGES; page++) {
    const rows = await run('find_due', {
      cursors: cursors.map(({ queue, after }) => ({ queue, after: toInteger(after) })),
      types: types ?? null,
      passed,
      window: toInteger(window),
    })
    const found = rows.map(toDueJob)
    for (const job of found) if (job.isDue) due.set(job.id, job)
    cursors = cursors.flatMap(({ queue }) => {
      const read = found.filter((job) => job.queue === queue)
      const last = read.at(-1)
      const known = [...due.values()].filter((job) => job.queue === queue)
      if (last === undefined || read.length < window || known.length >= limit) return []
      // A due job at the end of a page is read again with the rest of its priority.
      return [{ queue, after: last.isDue ? last.priority - 1 : last.priority }]
    })
  }
  return [...due.values()].toSorted(compareDue).slice(0, limit)
}

function toDueJob(row: Row): DueJob {
  return {
    id: row['id'] as string,
    queue: row['queue'] as string,
    priority: Number(row['priority']),
    dueMs: Number(row['dueMs']),
    isDue: row['isDue'] === true,
    bucket: Number(row['bucket']),
  }
}

function compareDue(a: DueJob, b: DueJob): number {
  return a.priority - b.priority || a.dueMs - b.dueMs || (a.id < b.id ? -1 : 1)
}
