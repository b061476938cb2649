import { hintForAll, type JobHint } from './wake-turn.ts'

const DELAYS = /^[\d,]+$/

/**
 * A hint has no payload, or the jobs that `send_job_hint.sql` announces. Delays alone, in milliseconds, are what earlier versions
 * sent. Anything else is none.
 */
export function readHints(payload: string): JobHint[] {
  if (payload === '') return [hintForAll()]
  if (DELAYS.test(payload)) return payload.split(',').map((delayMs) => hintForAll(Number(delayMs)))
  const { seed, jobs } = parse(payload)
  if (typeof seed !== 'number' || !Array.isArray(jobs)) return []
  return jobs.flatMap((entry) => readEntry(entry, seed))
}

/** Numbers of leases whose jobs are asked to stop, as `send_cancel_hint.sql` sends them. */
export function readCancels(payload: string): number[] {
  const { cancels } = parse(payload)
  return Array.isArray(cancels) ? cancels.filter((number) => typeof number === 'number') : []
}

/** The jobs are taken to be spread evenly over the times; at each of them another worker comes first. */
function readEntry(entry: unknown, seed: number): JobHint[] {
  if (!Array.isArray(entry)) return []
  const [queue, jobs, ...delaysMs] = entry as unknown[]
  const isText = typeof queue === 'string' || queue === null
  if (!isText || typeof jobs !== 'number') return []
  const times = delaysMs.length === 0 ? [0] : delaysMs.filter((delayMs) => typeof delayMs === 'number')
  const count = Math.ceil(jobs / times.length)
  return times.map((dueInMs, place) => ({ queue, count, dueInMs, seed: seed + place }))
}

function parse(payload: string): Record<string, unknown> {
  if (!payload.startsWith('{')) return {}
  try {
    return JSON.parse(payload) as Record<string, unknown>
  } catch {
    return {}
  }
}
