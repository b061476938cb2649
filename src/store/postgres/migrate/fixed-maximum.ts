import { columnName } from '../../../profile/profile.ts'
import type { Row } from '../executor.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql } from '../sql-files.ts'
import type { TableFacts } from './inspect-table.ts'

/**
 * An earlier version added `max_attempts` with a default, and the maximum of the policy counted for no row. A column of the
 * team's own is left alone.
 */
export function hasFixedMaximum(
  { table }: RenderOptions,
  { columns }: TableFacts,
  attached: Row | undefined,
): boolean {
  const name = columnName(table, 'max_attempts')
  const added = (attached?.['added_columns'] ?? []) as string[]
  return added.includes(name) && columns[name]?.is_nullable === false
}

export const freeMaximumSql = (options: RenderOptions): string =>
  render(readSql('attach/table', 'free_maximum'), options)
