import type { ReapingStore } from '../../job-store.ts'
import { listReclaims, listStaleJobs } from '../../memory/reaping/rescues.ts'
import { listSweeps } from '../../memory/reaping/sweep-history.ts'
import { checkPage } from '../../memory/state/checks.ts'
import type { Run } from '../graph/graph.ts'
import { createAdoption } from '../state/adopt-jobs.ts'
import { toInteger } from '../state/job-node.ts'
import type { PartRequest } from '../state/state-part.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { pruneJobs } from './prune.ts'
import { idsFrom } from './reading.ts'
import { previewSweep, sweepJobs } from './sweep.ts'

export function bindReapingVerbs(runner: VerbRunner): ReapingStore {
  const { look } = runner
  const adoption = createAdoption(runner.graph, runner.context.onNotice)
  return {
    sweepJobs: (request = {}) => sweepJobs(runner, request, adoption),
    previewSweep: (request = {}) => previewSweep(runner, request),
    pruneJobs: (request = {}) => pruneJobs(runner, request),
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
      return look(concerned, (state) => listReclaims(state, request))
    },
    listStaleJobs: (request = {}) =>
      look({ find: [['list_running']] }, (state) => listStaleJobs(state, request)),
    listSweeps: (request = {}) => look({ kinds: ['sweeps'] }, (state) => listSweeps(state, request)),
  }
}
