// The ports that this store lacks: their verbs throw NOT_SUPPORTED.
import { deletesCompleted, type PolicyOverride } from '../../policy/policy.ts'
import { notSupported, type StoreCapability } from '../capability.ts'
import { bindRefusedPorts } from '../refused-ports.ts'

/** Known without the driver, which is loaded only if the store is used. */
export const neo4jLacks: ReadonlySet<StoreCapability> = new Set([
  'transactions',
  'notify',
  'skip-locked',
  'audit',
  'attach',
  'dispatch',
  'enforce',
  'operations',
  'trends',
  'webhooks',
  'deletion',
  'dedupe-rules',
  'groups',
])

export function refuseTransaction(options: { tx?: unknown }): void {
  if (options.tx !== undefined) throw notSupported('Neo4j', 'transactions')
}

/** Jobs are nodes of the application, and are never deleted by a completion. */
export function refuseDeletion(policy: PolicyOverride = {}): void {
  if (deletesCompleted(policy)) throw notSupported('Neo4j', 'deletion')
}

export const bindMissingVerbs = () =>
  bindRefusedPorts((capability) => async () => {
    throw notSupported('Neo4j', capability)
  })
