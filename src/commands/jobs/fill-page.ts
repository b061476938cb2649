import type { JobFilter, JobPage, JobStore, JobSummary, ListOptions } from '../../store/job-store.ts'

/** Reads until the page has `limit` jobs: a store may return fewer. `maxSteps` bounds the reads. */
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
  return { ...page, jobs }
}
