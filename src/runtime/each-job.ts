import type { JobCursor, JobFilter, JobPage, JobStore, JobSummary, ListOptions } from '../store/job-store.ts'

export interface EachJobOptions {
  /** As many at most; all where absent. */
  limit?: number
  cursor?: JobCursor
  withPayload?: boolean
}

const PAGE = 500

/** A page with `limit` jobs in it, as long as there are as many: the store may leave off before, and so may `maxSteps`. */
export async function fillPage(
  store: JobStore,
  filter: JobFilter,
  { maxSteps = Number.POSITIVE_INFINITY, ...options }: ListOptions & { limit: number; maxSteps?: number },
): Promise<JobPage> {
  const jobs: JobSummary[] = []
  let page: JobPage
  let from = options
  let steps = 0
  do {
    steps++
    page = await store.listJobs(filter, { ...from, limit: options.limit - jobs.length })
    jobs.push(...page.jobs)
    if (page.next !== null) from = { ...options, cursor: page.next }
  } while (page.next !== null && jobs.length < options.limit && steps < maxSteps)
  return { jobs, next: page.next }
}

/** Every job that fits, the newest first, page by page: pages may be empty before the last. */
export async function* eachJob(
  store: JobStore,
  filter: JobFilter,
  options: EachJobOptions = {},
): AsyncGenerator<JobSummary> {
  const { withPayload = false } = options
  let left = options.limit ?? Number.POSITIVE_INFINITY
  let cursor: JobCursor | null | undefined = options.cursor
  while (left > 0 && cursor !== null) {
    const from: { cursor?: JobCursor } = cursor === undefined ? {} : { cursor }
    const page: JobPage = await store.listJobs(filter, { limit: Math.min(PAGE, left), withPayload, ...from })
    yield* page.jobs
    left -= page.jobs.length
    cursor = page.next
  }
}
