import { jsonText } from '../../../job/json-text.ts'
import type { ReaperFacts, ReapingStore } from '../../ports/reaping-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { policyToJson } from '../rows/policy-row.ts'
import {
  toLastSweep,
  toPastSweep,
  toReapedJob,
  toReclaim,
  toStaleJob,
  toSweepStep,
} from '../rows/reaping-rows.ts'
import { text } from '../rows/values.ts'

export function bindReapingVerbs(call: CallQuery): ReapingStore {
  return {
    async sweepJobs({ reaper, limit, cursor, policy, actor, reason } = {}) {
      const facts = reaper === undefined ? null : reaperToJson(reaper)
      const by = [actor ?? null, reason ?? null]
      const params = [facts, limit ?? 1000, cursor ?? null, policyToJson(policy), ...by]
      const [row] = await call('sweep_jobs', params)
      return toSweepStep(row?.['step'] as Row)
    },

    async previewSweep({ limit, policy } = {}) {
      return (await call('preview_sweep', [limit ?? 1000, policyToJson(policy)])).map(toReapedJob)
    },

    async pruneJobs({ retentionDays, limit, cursor } = {}) {
      const [row] = await call('prune_jobs', [retentionDays ?? null, limit ?? 1000, cursor ?? null])
      return { deleted: Number(row?.['deleted']), next: text(row?.['next']) }
    },

    async listReclaims({ workerId, stage, before, limit } = {}) {
      const params = [workerId ?? null, stage ?? null, before ?? null, limit ?? 100]
      const [row] = await call('list_reclaims', params)
      const page = row?.['page'] as { reclaims: Row[]; next: string | null }
      return { reclaims: page.reclaims.map(toReclaim), next: page.next }
    },

    async listStaleJobs({ isPastTwiceLease, limit, policy } = {}) {
      const params = [isPastTwiceLease ?? false, limit ?? 100, policyToJson(policy)]
      const rows = await call('list_stale_jobs', params)
      return { jobs: rows.map(toStaleJob), count: Number(rows[0]?.['count'] ?? 0) }
    },

    async listSweeps({ before, limit = 100 } = {}) {
      const rows = await call('list_sweeps', [before ?? null, limit])
      const [last] = await call('read_last_sweep', [])
      const sweeps = rows.map(toPastSweep)
      return {
        last: last === undefined ? null : toLastSweep(last),
        sweeps,
        next: sweeps.length < limit ? null : (sweeps.at(-1)?.sweepId ?? null),
      }
    },
  }
}

function reaperToJson({ reaperId, lastSweptAt, elapsedMs, failingForMs, intervalMs }: ReaperFacts): string {
  const facts = {
    reaper_id: reaperId,
    last_swept_at: lastSweptAt,
    elapsed_ms: elapsedMs,
    failing_for_ms: failingForMs,
    interval_ms: intervalMs,
  }
  return jsonText('reaper', facts)
}
