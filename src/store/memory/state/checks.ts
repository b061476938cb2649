// Checks of arguments and of the mode, shared by the verbs.
import { invalidArgument, UnstuckError } from '../../../errors/index.ts'
import type { PageRequest } from '../../ports/reaping-store.ts'
import type { MemoryState } from './memory-state.ts'

// PostgreSQL stores neither NUL nor half of a surrogate pair in text.
const UNSTORABLE = /\0|\p{Surrogate}/u

export function hasUnstorable(text: string): boolean {
  return UNSTORABLE.test(text)
}

export function checkWhole(value: number | undefined, name: string, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return
  throw invalidArgument(name, value, `a whole number from ${min} to ${max}`)
}

export const checkCountLimit = (limit: number) => checkWhole(limit, 'count_limit', 1, 1_000_000)

export function checkText(name: string, text: unknown, maxLength: number): void {
  const isFine = typeof text === 'string' && text !== '' && text.length <= maxLength && !hasUnstorable(text)
  if (!isFine) throw invalidArgument(name, text, `1 to ${maxLength} characters`)
}

export function checkQueue(queue: unknown): void {
  checkText('queue', queue, 1_000)
}

/** Cursors of this store are numbers. */
export function checkPage({ limit, before }: PageRequest): { limit: number; before: number | null } {
  checkWhole(limit, 'limit', 1, 1_000)
  if (before !== undefined && !/^\d{1,15}$/.test(before))
    throw invalidArgument('before', before, 'the next of an earlier page')
  return { limit: limit ?? 100, before: before === undefined ? null : Number(before) }
}

/** Refuses to change a job of a table in mode observe (OPS-14). */
export function requireActing({ mode, table }: MemoryState): void {
  if (mode.mode !== 'observe') return
  const message = `memory.${table} is in mode observe: unstuck changes none of its rows`
  throw new UnstuckError('WRONG_MODE', `${message}. To let it act: unstuck mode reap --table ${table}`)
}
