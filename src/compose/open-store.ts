import type { LocalStore } from '../store/local-store.ts'
import type { OpenTable } from './open-table.ts'

/** A store that the caller created, inside this process. */
export function openStore(store: LocalStore): OpenTable {
  return { store, transaction: (work) => store.transaction(work), close: async () => {} }
}
