import { UnstuckError } from '../../../errors/index.ts'
import type { MemoryState } from './memory-state.ts'

/** Refuses to change a job of a table in mode observe (OPS-14). */
export function requireActing({ mode, table }: MemoryState): void {
  if (mode.mode !== 'observe') return
  const message = `memory.${table} is in mode observe: unstuck changes none of its rows`
  throw new UnstuckError('WRONG_MODE', `${message}. To let it act: unstuck mode reap --table ${table}`)
}
