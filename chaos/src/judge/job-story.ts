// The story of one job, replayed from its events: its leases over time and any illegal transitions.
import type { EventRow } from './history.ts'

export type State = 'none' | 'waiting' | 'running' | 'succeeded' | 'dead' | 'cancelled'
export interface Claim {
  lease: string
  worker: string
  fence: number
  at: number
  /** Earliest time of the claim. */
  notBefore: number
  end: EventRow | null
}
export interface Story {
  jobId: string
  state: State
  generation: number
  claims: Claim[]
  completions: { generation: number; lease: string | undefined; at: number }[]
  illegal: string[]
  /** Writes by a lease that no longer held the job. */
  stale: string[]
  releases: number
  /** Failures and requeues, which some profiles count as attempts. */
  counted: number
}

export const transitions: Record<string, { from: State[]; to: State }> = {
  complete: { from: ['running'], to: 'succeeded' },
  retry: { from: ['running'], to: 'waiting' },
  failed: { from: ['running'], to: 'dead' },
  expired: { from: ['running'], to: 'dead' },
  released: { from: ['running'], to: 'waiting' },
  cancelled: { from: ['waiting', 'running'], to: 'cancelled' },
  'reaper:requeued': { from: ['running'], to: 'waiting' },
  'reaper:failed(timeout)': { from: ['running'], to: 'dead' },
  'reaper:cancelled': { from: ['running'], to: 'cancelled' },
}
const REMARKS = new Set(['late_result', 'cancel-requested'])
const COUNTED = new Set(['retry', 'failed', 'reaper:requeued'])

/** Expects the events of this job only, in order. */
export function replayEvents(jobId: string, events: EventRow[]): Story {
  const story: Story = {
    jobId,
    state: 'none',
    generation: 1,
    claims: [],
    completions: [],
    illegal: [],
    stale: [],
    releases: 0,
    counted: 0,
  }
  let notBefore = 0
  for (const event of events) {
    if (REMARKS.has(event.type)) continue
    if (event.type === 'queued') queue(story, event)
    else if (event.type === 'processing') claim(story, event, notBefore)
    else settle(story, event)
    notBefore = runTime(event)
  }
  return story
}

/** When a job that this event lets wait may run; 0 if the event does not say. */
export function runTime({ type, at, details }: EventRow): number {
  const nextRunAt = details['next_run_at'] as string | null | undefined
  if (nextRunAt != null) return Date.parse(nextRunAt)
  return type === 'released' ? at + Number(details['delay_ms'] ?? 0) : 0
}

function queue(story: Story, { id, details }: EventRow) {
  const isRetry = details['cause'] === 'retry'
  const isLegal = isRetry ? ['dead', 'cancelled'].includes(story.state) : story.state === 'none'
  if (!isLegal) story.illegal.push(`event ${id}: queued while ${story.state}`)
  if (isRetry) story.generation++
  story.state = 'waiting'
}

function claim(story: Story, { id, at, details }: EventRow, notBefore: number) {
  if (story.state !== 'waiting') story.illegal.push(`event ${id}: processing while ${story.state}`)
  story.state = 'running'
  const lease = String(details['lease_id'])
  // A worker appends a random suffix to its name; these processes have unique names already.
  const worker = String(details['worker_id']).replace(/:[0-9a-f]{8}$/, '')
  story.claims.push({ lease, worker, fence: Number(details['fence']), at, notBefore, end: null })
}

function settle(story: Story, event: EventRow) {
  const { id, type, at, details } = event
  const rule = transitions[type]
  if (rule === undefined) return void story.illegal.push(`event ${id}: ${type} is no event of this run`)
  // Only a waiting job without budget is buried.
  const from = details['code'] === 'exhausted' ? ['waiting'] : rule.from
  if (!from.includes(story.state)) story.illegal.push(`event ${id}: ${type} while ${story.state}`)
  const holder = story.state === 'running' ? story.claims.at(-1) : undefined
  const writer = details['lease_id'] as string | null | undefined
  if (writer != null && writer !== holder?.lease)
    story.stale.push(`event ${id}: ${type} by lease ${writer}, held by ${holder?.lease}`)
  if (holder !== undefined) holder.end = event
  if (type === 'complete') story.completions.push({ generation: story.generation, lease: holder?.lease, at })
  if (type === 'released' || (type === 'cancelled' && details['cause'] !== undefined)) story.releases++
  // A failure after a cancel request uses up the attempt. A release does not, and carries no code.
  const isFailure = COUNTED.has(type) || (type === 'cancelled' && details['code'] !== undefined)
  if (isFailure && details['code'] !== 'exhausted') story.counted++
  story.state = rule.to
}
