import type { MemoryState } from './memory-state.ts'

/** Takes a snapshot of all tables; the returned function restores it. Rows are immutable, so they need no copies. */
export function keepTables(state: MemoryState): () => void {
  const kept = Object.entries(state).map(([name, table]) => [name, copyOf(table)] as const)
  return () => {
    for (const [name, table] of kept) {
      const current = state[name as keyof MemoryState]
      if (current instanceof Map) refill(current, table as Map<unknown, unknown>)
      else if (Array.isArray(current)) current.splice(0, current.length, ...(table as never[]))
      // Like a sequence, the event counter does not go back.
      else if (name !== 'eventCount') Object.assign(state, { [name]: table })
    }
  }
}

function refill(map: Map<unknown, unknown>, kept: Map<unknown, unknown>): void {
  map.clear()
  for (const [key, row] of kept) map.set(key, copyOf(row))
}

function copyOf(table: unknown): unknown {
  if (table instanceof Map) return new Map([...table].map(([key, row]) => [key, copyOf(row)]))
  return Array.isArray(table) ? [...(table as unknown[])] : table
}
