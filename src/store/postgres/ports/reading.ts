import type { TableProfile } from '../../../profile/profile.ts'
import { COUNT_LIMIT } from '../../ports/call-options.ts'
import type { ReadingStore } from '../../ports/reading-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row, SqlClient } from '../connection/executor.ts'
import { withCursor } from '../connection/postgres-errors.ts'
import { filterToJson } from '../rows/filter-json.ts'
import { toEvent, toHealth, toHidden, toJob } from '../rows/job-rows.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { toDeadJobGroup, toJobFacts, toJobSummary, toSlo } from '../rows/reading-rows.ts'
import { dateOrNull } from '../rows/values.ts'

export function bindReadingVerbs(
  call: CallQuery,
  table: TableProfile,
): Omit<ReadingStore<SqlClient>, 'readPolicy'> {
  return {
    async getJob(jobId, { tx } = {}) {
      const [row] = await call('get_job', [jobId], tx)
      const job = (row?.['job'] ?? null) as Row | null
      return job === null ? null : toJob(job, table)
    },

    async listEvents(jobId) {
      return (await call('list_events', [jobId])).map(toEvent)
    },

    async listJobs(filter = {}, { limit = 100, cursor, withPayload = false } = {}) {
      const params = [filterToJson(filter), limit, cursor ?? null, withPayload]
      const [row] = await withCursor(cursor, () => call('list_jobs', params))
      const page = row?.['page'] as { jobs: Row[]; next: string | null; searched_to: string | null }
      return {
        jobs: page.jobs.map((job) => toJobSummary(job, table)),
        next: page.next,
        searchedTo: dateOrNull(page.searched_to),
      }
    },

    async findJobIds(prefix, limit = 5) {
      return (await call('find_job_ids', [prefix, limit])).map((row) => String(row['id']))
    },

    async readJobFacts(jobId, { policy } = {}) {
      const [row] = await call('explain_job', [jobId, policyToJson(policy)])
      const facts = (row?.['facts'] ?? null) as Row | null
      return facts === null ? null : toJobFacts(facts, table)
    },

    async groupDeadJobs({ limit = 100, owner } = {}) {
      const rows = await call('group_dead_jobs', [limit, owner ?? null])
      return { groups: rows.map(toDeadJobGroup), isComplete: rows[0]?.['is_complete'] !== false }
    },

    async readHealth({ policy, countLimit = COUNT_LIMIT } = {}) {
      const [row] = await call('read_health', [policyToJson(policy), countLimit])
      return toHealth(row ?? {})
    },

    async readHidden() {
      const [row] = await call('read_hidden', [])
      return toHidden(row?.['hidden'] as Row | null)
    },

    async readSlo({ windowMs, pollMs, policy } = {}) {
      const params = [windowMs ?? 86_400_000, pollMs ?? 2_000, policyToJson(policy)]
      const [row] = await call('read_slo', params)
      return toSlo(row ?? {})
    },
  }
}
