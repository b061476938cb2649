import type { StoreCapability } from '../capability.ts'

/** Known without the driver, which is only loaded where the store is used. */
export const neo4jLacks: ReadonlySet<StoreCapability> = new Set([
  'transactions',
  'notify',
  'skip-locked',
  'audit',
  'doctor',
  'attach',
  'dispatch',
  'modes',
  'operations',
  'webhooks',
])
