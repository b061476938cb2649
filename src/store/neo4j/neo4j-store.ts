// The store over Neo4j 5: the verbs of the memory store over locked parts of the graph, with the names of document 002.
import type { Driver } from 'neo4j-driver'
import type { PolicyOverride } from '../../policy/policy.ts'
import { embeddingProfile } from '../../profile/embedding.ts'
import type { JobStore } from '../job-store.ts'
import { createJobIds } from '../memory/state/job-id.ts'
import { policyOf } from '../memory/state/policy-of.ts'
import { checkLabel, DEFAULT_LABEL } from './graph/cypher-files.ts'
import { openGraph } from './graph/graph.ts'
import type { PartContext } from './state/state-part.ts'
import { createVerbRunner } from './state/verb-runner.ts'
import { bindMissingVerbs, neo4jLacks } from './unsupported.ts'
import { bindDependencyVerbs } from './verbs/dependencies.ts'
import { bindLifecycleVerbs } from './verbs/lifecycle.ts'
import { bindOperatingVerbs } from './verbs/operating.ts'
import { bindReadingVerbs } from './verbs/reading.ts'
import { bindReapingVerbs } from './verbs/reaping.ts'
import { bindModeVerbs, bindScheduleVerbs, bindWorkerVerbs } from './verbs/workers.ts'

export interface Neo4jStoreOptions {
  driver: Driver
  /** Default: the user's home database. */
  database?: string
  /** Label of the job nodes. Default: `EmbeddingJob`. */
  label?: string
  /** Overrides the policy of document 002, unless one was stored. */
  policy?: PolicyOverride
}

export function createNeo4jStore(options: Neo4jStoreOptions): JobStore {
  const { label = DEFAULT_LABEL } = options
  checkLabel(label)
  const context: PartContext = {
    table: label,
    policy: policyOf(embeddingProfile.tables[0].policy, options.policy),
    createJobId: createJobIds(),
  }
  const runner = createVerbRunner(openGraph({ ...options, label }), context)
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
