import { invalidArgument } from '../../../errors/index.ts'
import type { PageRequest } from '../../ports/reaping-store.ts'
import { checkWhole } from './new-job.ts'

/** Cursors of this store are numbers. */
export function checkPage({ limit, before }: PageRequest): { limit: number; before: number | null } {
  checkWhole(limit, 'limit', 1, 1_000)
  if (before !== undefined && !/^\d{1,15}$/.test(before))
    throw invalidArgument('before', before, 'the next of an earlier page')
  return { limit: limit ?? 100, before: before === undefined ? null : Number(before) }
}
