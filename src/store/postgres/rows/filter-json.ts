import { jsonText } from '../../../job/json-text.ts'
import type { JobFilter } from '../../ports/operator-store.ts'

/** The names of a filter as SQL has them. */
export function filterFields(filter: JobFilter): Record<string, unknown> {
  const entries = Object.entries(filter).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value as unknown,
  ])
  return Object.fromEntries(entries) as Record<string, unknown>
}

export function filterToJson(filter: JobFilter): string {
  return jsonText('filter', filterFields(filter))
}
