// Capabilities that a store may lack. The conformance suite skips them by name, and the runtime does not start their services.
import { UnstuckError } from '../errors/index.ts'

/**
 * - `transactions`: joining the caller's own transaction
 * - `notify`: waking workers when jobs become due
 * - `skip-locked`: skipping a locked row instead of waiting for it
 * - `audit`: the log of operator actions
 * - `doctor`: checks of the installation and the server
 * - `attach`: finding job tables, and adding columns to them
 * - `deletion`: completions that delete the row (`keepCompleted: false`)
 * - `dedupe-rules`: dedupe keys with a window or a replacement (`dedupe: { key, forMs }`, `{ key, replace }`)
 * - `groups`: groups of jobs, and limits of how many jobs of a queue or group run at once
 * - `enforce`: fencing writers that have no lease
 * - `dispatch`, `operations`, `trends`, `webhooks`: the ports of these names
 */
export type StoreCapability =
  | 'transactions'
  | 'notify'
  | 'skip-locked'
  | 'audit'
  | 'doctor'
  | 'attach'
  | 'dispatch'
  | 'enforce'
  | 'operations'
  | 'trends'
  | 'webhooks'
  | 'deletion'
  | 'dedupe-rules'
  | 'groups'

export function hasCapability(
  store: { readonly lacks?: ReadonlySet<StoreCapability> },
  capability: StoreCapability,
): boolean {
  return store.lacks?.has(capability) !== true
}

export function notSupported(store: string, capability: StoreCapability): UnstuckError {
  return new UnstuckError('NOT_SUPPORTED', `the ${store} store has no ${capability}`, {
    details: { store, capability },
    hint: 'If you need it, keep these jobs in PostgreSQL.',
  })
}
