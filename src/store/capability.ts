// What a store may be unable to do. The conformance suite skips it by name, the runtime leaves it alone, and whoever calls
// it all the same is told so.
import { UnstuckError } from '../errors/index.ts'

/**
 * - `transactions`: joining the caller's own transaction
 * - `notify`: telling listening workers of new work
 * - `skip-locked`: going past a row that somebody has locked, instead of waiting for it
 * - `audit`: the list of what people did
 * - `doctor`: a look at the installation and the server
 * - `attach`: finding tables of jobs, and adding to them
 * - `dispatch`, `modes`, `operations`, `webhooks`: the parts of the port of these names
 */
export type StoreCapability =
  | 'transactions'
  | 'notify'
  | 'skip-locked'
  | 'audit'
  | 'doctor'
  | 'attach'
  | 'dispatch'
  | 'modes'
  | 'operations'
  | 'webhooks'

export function hasCapability(
  store: { readonly lacks?: ReadonlySet<StoreCapability> },
  capability: StoreCapability,
): boolean {
  return store.lacks?.has(capability) !== true
}

export function notSupported(store: string, capability: StoreCapability): UnstuckError {
  return new UnstuckError('NOT_SUPPORTED', `the ${store} store has no ${capability}`, {
    details: { store, capability },
    hint: 'Keep these jobs in PostgreSQL where this is needed.',
  })
}
