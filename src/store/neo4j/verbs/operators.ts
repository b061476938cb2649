// What people ask of jobs and do to them, and what was rescued.
import type { OperatorStore, RescueStore } from '../../job-store.ts'
import { bindOperatorVerbs as bindInMemory } from '../../memory/operating/operators.ts'
import { bindRescueVerbs as bindRescuesInMemory } from '../../memory/reaping/rescues.ts'
import { checkPage } from '../../memory/state/check-page.ts'
import { dueMs } from '../../memory/state/memory-state.ts'
import type { Run } from '../graph/graph.ts'
import { toDateTime, toInteger } from '../state/job-node.ts'
import type { PartRequest } from '../state/state-part.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { listJobs } from './lists.ts'

/** More dead letters than these are not looked at. */
const MAX_DEAD = 10_000
const DAY_MS = 86_400_000

export function bindOperatorVerbs(runner: VerbRunner): OperatorStore & RescueStore {
  return { ...bindReads(runner), ...bindChanges(runner), ...bindRescues(runner) }
}

type Changes = Pick<OperatorStore, 'markCause' | 'runJobsNow' | 'discardJobs'>

function bindChanges({ change }: VerbRunner): Changes {
  return {
    markCause: (causeId, mark) =>
      change({ held: [['causes', causeId]] }, (state) => bindInMemory(state).markCause(causeId, mark)),
    runJobsNow: (jobIds, options) =>
      change({ jobIds }, (state) => bindInMemory(state).runJobsNow(jobIds, options)),
    discardJobs: (jobIds, options) =>
      change({ jobIds }, (state) => bindInMemory(state).discardJobs(jobIds, options)),
  }
}

function bindReads(runner: VerbRunner): Omit<OperatorStore, keyof Changes> {
  const { look } = runner
  return {
    listJobs: (filter = {}, options = {}) => listJobs(runner, filter, options),
    findJobIds: (prefix, limit = 5) => findJobIds(runner, prefix, limit),
    groupDeadJobs: (options = {}) => {
      const parameters = { owner: options.owner ?? null, limit: toInteger(MAX_DEAD + 1) }
      return look({ kinds: ['causes'], find: [['list_dead', parameters]] }, async (state) => {
        const isComplete = state.jobs.size <= MAX_DEAD
        return { ...(await bindInMemory(state).groupDeadJobs(options)), isComplete }
      })
    },
    readJobFacts: (jobId, options) => {
      const kinds = ['pauses', 'breakers', 'dependencies', 'workers', 'keptWorkers'] as const
      const request = { kinds, find: [['read_job', { id: jobId }]], eventsOf: [jobId] } as const
      return look(request, async (state, run) => {
        const facts = await bindInMemory(state).readJobFacts(jobId, options)
        const job = state.jobs.get(jobId)
        if (facts === null || job === undefined || facts.ahead === null) return facts
        const { id, queue, priority } = job
        const due = toDateTime(new Date(dueMs(job)))
        const [row] = await run('count_ahead', { id, queue, priority: toInteger(priority), due })
        return { ...facts, ahead: Number(row?.['ahead']) }
      })
    },
    readSlo: (request = {}) =>
      look(
        async (run) => ({
          find: [['list_running']],
          eventsOf: await idsFrom(run, 'list_rescues', { windowMs: toInteger(request.windowMs ?? DAY_MS) }),
        }),
        (state) => bindInMemory(state).readSlo(request),
      ),
  }
}

async function findJobIds({ graph, look }: VerbRunner, prefix: string, limit: number): Promise<string[]> {
  // Refuses wrong arguments.
  await look({}, (state) => bindInMemory(state).findJobIds(prefix, limit))
  const hex = prefix.toLowerCase().replaceAll('-', '')
  const dashed = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
  const begin = dashed.filter((part) => part !== '').join('-')
  return graph.read((run) => idsFrom(run, 'find_job_ids', { prefix: begin, limit: toInteger(limit) }))
}

function bindRescues({ look }: VerbRunner): RescueStore {
  return {
    listReclaims: async (request = {}) => {
      const { workerId, stage, ...page } = request
      const { limit, before } = checkPage(page)
      const parameters = {
        lockOwner: workerId ?? null,
        stage: stage ?? null,
        before: toInteger(before),
        limit: toInteger(limit),
      }
      const concerned = async (run: Run): Promise<PartRequest> => {
        const ids = await idsFrom(run, 'list_reclaims', parameters)
        return { find: [['list_jobs_by_id', { ids }]], eventsOf: ids }
      }
      return look(concerned, (state) => bindRescuesInMemory(state).listReclaims(request))
    },
    listStaleJobs: (request) =>
      look({ find: [['list_running']] }, (state) => bindRescuesInMemory(state).listStaleJobs(request)),
    listSweeps: (request) =>
      look({ kinds: ['sweeps'] }, (state) => bindRescuesInMemory(state).listSweeps(request)),
  }
}

async function idsFrom(run: Run, name: string, parameters: { [name: string]: unknown }): Promise<string[]> {
  return (await run(name, parameters)).map((row) => row['jobId'] as string)
}
