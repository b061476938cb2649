// Retention, through APOC: ended jobs, requests and other state that expires.

import type { PruneRequest, PruneStep } from '../../job-store.ts'
import { pruneJobs as pruneInMemory } from '../../memory/reaping/prune.ts'
import { checkWhole } from '../../memory/state/checks.ts'
import { toDateTime, toInteger } from '../state/job-node.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { requireNoFailures } from './sweep.ts'

const DAY_MS = 86_400_000
const DEFAULT_LIMIT = 1000

export async function pruneJobs(runner: VerbRunner, request: PruneRequest): Promise<PruneStep> {
  checkWhole(request.limit, 'limit', 1, 10_000)
  const { graph } = runner
  const limit = request.limit ?? DEFAULT_LIMIT
  const before = await runner.look({}, (state) => {
    const days = request.retentionDays ?? state.policy.retentionDays
    return toDateTime(new Date(state.nowMs() - days * DAY_MS))
  })
  if (request.cursor === undefined) {
    await runner.change({ kinds: ['workers', 'sweeps'] }, (state) => pruneInMemory(state, request))
    await graph.write((run) => run('prune_discarded', { before }))
    await graph.write((run) => run('forget_requests'))
  }
  const found = await graph.read((run) => run('find_prunable', { before, limit: toInteger(limit) }))
  if (found.length === 0) return { deleted: 0, next: null }
  const ids = found.map((row) => row['id'] as string)
  requireNoFailures('retention', await graph.call('prune_jobs', { ids, before }))
  const kept = await graph.read((run) => run('list_jobs_by_id', { ids }))
  return { deleted: ids.length - kept.length, next: ids.length < limit ? null : 'more' }
}
