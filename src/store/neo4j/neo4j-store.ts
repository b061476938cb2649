// The store over Neo4j 5: the verbs of the memory store over locked parts of the graph, with the names of document 002.
import type { Driver } from 'neo4j-driver'
import type { PolicyOverride } from '../../policy/policy.ts'
import { embeddingProfile } from '../../profile/embedding.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { JobStore } from '../job-store.ts'
import { createJobIds } from '../memory/state/job-id.ts'
import { policyOf } from '../memory/state/policy-of.ts'
import { openGraph } from './graph/graph.ts'
import { namesOf } from './graph/node-names.ts'
import { type NodeNotice, warnOf } from './state/node-notice.ts'
import type { PartContext } from './state/state-part.ts'
import { createVerbRunner } from './state/verb-runner.ts'
import { bindMissingVerbs, neo4jLacks, refuseDeletion } from './unsupported.ts'
import { bindDependencyVerbs } from './verbs/dependencies.ts'
import { bindLifecycleVerbs } from './verbs/lifecycle.ts'
import { bindModeVerbs } from './verbs/modes.ts'
import { bindOperatingVerbs } from './verbs/operating.ts'
import { bindReadingVerbs } from './verbs/reading.ts'
import { bindReapingVerbs } from './verbs/reaping.ts'
import { bindScheduleVerbs, bindWorkerVerbs } from './verbs/workers.ts'

export interface Neo4jStoreOptions {
  driver: Driver
  /** Default: the user's home database. */
  database?: string
  /** Label of the job nodes. Default: that of `table`, or `EmbeddingJob`. */
  label?: string
  /** Names, status words, types of times and policy, if they differ from document 002. */
  table?: TableProfile
  /** Overrides the policy of document 002, unless one was stored. */
  policy?: PolicyOverride
  /** Keys of the payload that are properties of a node, by their names. */
  payload?: Record<string, string>
  /** Receives what an operator should know about nodes. Default: `process.emitWarning`. */
  onNotice?: (notice: NodeNotice) => void
}

export function createNeo4jStore(options: Neo4jStoreOptions): JobStore {
  const names = namesOf(options.label, options.table)
  const table = options.table ?? embeddingProfile.tables[0]
  const { payload = table.payload ?? {} } = options
  refuseDeletion(table.policy)
  refuseDeletion(options.policy)
  const context: PartContext = {
    table: names.label,
    policy: policyOf(table.policy, options.policy),
    createJobId: createJobIds(),
    onNotice: options.onNotice ?? warnOf,
  }
  const runner = createVerbRunner(openGraph({ ...options, names, payload }), context)
  return {
    lacks: neo4jLacks,
    ...bindLifecycleVerbs(runner),
    ...bindReapingVerbs(runner),
    ...bindReadingVerbs(runner),
    ...bindOperatingVerbs(runner),
    ...bindDependencyVerbs(runner),
    ...bindScheduleVerbs(runner),
    ...bindWorkerVerbs(runner),
    ...bindModeVerbs(runner),
    ...bindMissingVerbs(),
  }
}
