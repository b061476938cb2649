import type { ReadingStore, WaitStore } from '../../job-store.ts'
import { readProgress } from '../../memory/lifecycle/progress.ts'
import { readEnds } from '../../memory/reading/ends.ts'
import { readJobFacts } from '../../memory/reading/job-facts.ts'
import { findJobIds as checkPrefix, groupDeadJobs } from '../../memory/reading/list-jobs.ts'
import { readSlo } from '../../memory/reading/slo.ts'
import { JobTable } from '../../memory/state/job-table.ts'
import { dueMs } from '../../memory/state/memory-state.ts'
import type { Run } from '../graph/graph.ts'
import { toDateTime, toInteger, toJob } from '../state/job-node.ts'
import { toEvent } from '../state/state-part.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { refuseTransaction } from '../unsupported.ts'
import { listJobs, readHealth } from './lists.ts'

/** Only the newest dead letters are grouped. */
const MAX_DEAD = 10_000
const DAY_MS = 86_400_000

export function bindReadingVerbs(runner: VerbRunner): ReadingStore & WaitStore {
  const { graph, look } = runner
  return {
    getJob: async (jobId, options = {}) => {
      refuseTransaction(options)
      const [row] = await graph.read((run) => run('read_job', { id: jobId }))
      return row === undefined ? null : toJob(row['job'])
    },
    readEnds: async (jobIds) => {
      const rows = await graph.read((run) => run('list_jobs_by_id', { ids: jobIds }))
      const jobs = rows.map((row) => toJob(row['job']))
      return readEnds({ jobs: JobTable.of(jobs) }, jobIds)
    },
    readProgress: async (jobIds) => {
      const rows = await graph.read((run) => run('list_jobs_by_id', { ids: jobIds }))
      const jobs = rows.map((row) => toJob(row['job']))
      return readProgress({ jobs: JobTable.of(jobs) }, jobIds)
    },
    listEvents: async (jobId) => {
      const rows = await graph.read((run) => run('list_events_of', { jobIds: [jobId] }))
      return rows.map(toEvent)
    },
    listJobs: (filter = {}, options = {}) => listJobs(runner, filter, options),
    findJobIds: (prefix, limit = 5) => findJobIds(runner, prefix, limit),
    groupDeadJobs: (options = {}) => {
      const parameters = { owner: options.owner ?? null, limit: toInteger(MAX_DEAD + 1) }
      return look({ kinds: ['causes'], find: [['list_dead', parameters]] }, (state) => {
        return { ...groupDeadJobs(state, options), isComplete: state.jobs.size <= MAX_DEAD }
      })
    },
    readJobFacts: (jobId, options) => {
      const kinds = ['pauses', 'breakers', 'dependencies', 'workers', 'keptWorkers'] as const
      const request = {
        kinds,
        find: [['read_job', { id: jobId }], ['list_running']],
        eventsOf: [jobId],
      } as const
      return look(request, async (state, run) => {
        const facts = readJobFacts(state, jobId, options?.policy)
        const job = state.jobs.get(jobId)
        if (facts === null || job === undefined || facts.ahead === null) return facts
        const { id, queue, priority } = job
        const due = toDateTime(new Date(dueMs(job)))
        const [row] = await run('count_ahead', { id, queue, priority: toInteger(priority), due })
        return { ...facts, ahead: Number(row?.['ahead']) }
      })
    },
    readHealth: (options = {}) => readHealth(runner, options),
    readHidden: async () => null,
    readSlo: (request = {}) =>
      look(
        async (run) => ({
          find: [['list_running']],
          eventsOf: await idsFrom(run, 'list_rescues', { windowMs: toInteger(request.windowMs ?? DAY_MS) }),
        }),
        (state) => readSlo(state, request),
      ),
    readPolicy: () => look({}, (state) => state.policy),
  }
}

async function findJobIds({ graph, look }: VerbRunner, prefix: string, limit: number): Promise<string[]> {
  await look({}, (state) => checkPrefix(state, prefix, limit))
  const hex = prefix.toLowerCase().replaceAll('-', '')
  const dashed = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
  const begin = dashed.filter((part) => part !== '').join('-')
  return graph.read((run) => idsFrom(run, 'find_job_ids', { prefix: begin, limit: toInteger(limit) }))
}

export async function idsFrom(
  run: Run,
  name: string,
  parameters: { [name: string]: unknown },
): Promise<string[]> {
  return (await run(name, parameters)).map((row) => row['jobId'] as string)
}
