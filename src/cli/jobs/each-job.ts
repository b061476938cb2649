// Jobs of one table, page by page. A page may be short or empty and still have a next one.
import type { CommandContext } from '../../commands/command.ts'
import { type ListJobsInput, listJobs } from '../../commands/jobs/job-commands.ts'
import type { JobPage, JobSummary } from '../../store/job-store.ts'
import { valueOf } from '../connection/with-commands.ts'

const PAGE = 500
/** Each reads 50,000 rows: a search for a rare job stops after some seconds, and says how far it got. */
const MAX_REQUESTS = 20

/** The first `limit` matching jobs, of a million rows at most. */
export async function fillPage(context: CommandContext, input: ListJobsInput): Promise<JobPage> {
  const jobs: JobSummary[] = []
  let { cursor } = input
  let requests = 0
  for (;;) {
    const page = valueOf(await listJobs(context, { ...input, cursor, limit: input.limit - jobs.length }))
    jobs.push(...page.jobs)
    if (page.next === null || jobs.length >= input.limit || ++requests === MAX_REQUESTS)
      return { ...page, jobs }
    cursor = page.next
  }
}

/** Every matching job, newest first. */
export async function* eachJob(
  context: CommandContext,
  {
    limit = Number.POSITIVE_INFINITY,
    ...input
  }: Omit<ListJobsInput, 'limit'> & { limit?: number | undefined },
): AsyncGenerator<JobSummary> {
  let left = limit
  let cursor: string | null | undefined
  while (left > 0 && cursor !== null) {
    const page: JobPage = valueOf(await listJobs(context, { ...input, cursor, limit: Math.min(PAGE, left) }))
    yield* page.jobs
    left -= page.jobs.length
    cursor = page.next
  }
}
