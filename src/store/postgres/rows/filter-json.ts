import { jsonText } from '../../../job/json-text.ts'
import type { JobFilter } from '../../ports/reading-store.ts'
import { columnOf } from './values.ts'

/** A filter with the field names of SQL. */
export function filterFields(filter: JobFilter): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [columnOf(name), value as unknown]))
}

export function filterToJson(filter: JobFilter): string {
  return jsonText('filter', filterFields(filter))
}
