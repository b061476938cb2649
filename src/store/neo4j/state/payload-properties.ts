// The payload of nodes that hold its parts in properties (OPS-13).
import neo4j, { type DateTime } from 'neo4j-driver'
import type { JsonValue } from '../../../job/job.ts'

type Row = { [name: string]: unknown }

/**
 * A job gets its payload from these properties of its node, and over them from what was enqueued. It is read, never written.
 * `stored` has the names of the team.
 */
export function payloadReader(payload: Record<string, string> = {}): (job: Row, stored: Row) => Row {
  const keys = Object.entries(payload)
  if (keys.length === 0) return (job) => job
  return (job, stored) => {
    const enqueued = enqueuedIn(job)
    if (enqueued === undefined) return job
    const parts = Object.fromEntries(keys.map(([key, name]) => [key, toJson(stored[name])]))
    return { ...job, payload: JSON.stringify({ ...parts, ...enqueued }) }
  }
}

/** Undefined for a payload that is no object, or no JSON: it stands alone. */
function enqueuedIn({ payload }: Row): object | undefined {
  if (typeof payload !== 'string') return {}
  try {
    const stored = JSON.parse(payload) as JsonValue
    return typeof stored === 'object' && !Array.isArray(stored) ? (stored ?? {}) : undefined
  } catch {
    return undefined
  }
}

/** Whole numbers that JavaScript would round are texts, and so is every type that JSON does not have. */
function toJson(value: unknown): JsonValue {
  if (value === undefined || value === null) return null
  if (neo4j.isInt(value)) return value.inSafeRange() ? value.toNumber() : value.toString()
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return (value as string | DateTime).toString()
}
