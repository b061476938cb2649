// The modes reap and observe. Neo4j cannot fence writers without leases.
import { notSupported } from '../../capability.ts'
import type { ModeStore } from '../../job-store.ts'
import { bindModeVerbs as bindInMemory } from '../../memory/reaping/modes.ts'
import type { Row, Run } from '../graph/graph.ts'
import { fromBody } from '../state/record-body.ts'
import type { PartRequest } from '../state/state-part.ts'
import type { VerbRunner } from '../state/verb-runner.ts'

export function bindModeVerbs({ context, change, look }: VerbRunner): ModeStore {
  return {
    readMode: () => look({}, (state) => bindInMemory(state).readMode()),
    readAttachment: () =>
      look({}, async (state) => ({
        ...(await bindInMemory(state).readAttachment()),
        profile: 'embedding',
        relation: `neo4j.${context.table}`,
      })),
    setMode: async (mode, options) => {
      if (mode === 'enforce') throw notSupported('Neo4j', 'enforce')
      const part = async (run: Run) => ({
        ...(await observedPart(run)),
        held: [['settings', 'mode']] as const,
      })
      return change(part, (state) => bindInMemory(state).setMode(mode, options))
    },
    readObservations: () => look(observedPart, (state) => bindInMemory(state).readObservations()),
  }
}

/** Observations, with the jobs and events that tell how they ended. */
export async function observedPart(run: Run): Promise<Pick<PartRequest, 'kinds' | 'find' | 'eventsOf'>> {
  const [row] = await run('read_records', { kinds: ['observations'] })
  const records = (row?.['records'] ?? []) as Row[]
  const ids = records.map(({ body }) => (fromBody(body as string) as { jobId: string }).jobId)
  return { kinds: ['observations'], find: [['list_jobs_by_id', { ids }]], eventsOf: ids }
}
