// The story of one job as its events tell it: which lease held it when, and what broke the rules of its states.
import type { EventRow } from './history.ts'

export type State = 'none' | 'waiting' | 'running' | 'succeeded' | 'dead' | 'cancelled'
export interface Claim {
  lease: string
  worker: string
  fence: number
  at: number
  /** the time that the job had to wait for */
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
  /** writes that name another lease than the one that held the job */
  stale: string[]
  releases: number
  /** failures and requeues, as profiles count that look at these */
  counted: number
}

const transitions: Record<string, { from: State[]; to: State }> = {
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

/** @param events of this job, in order */
export function tellStory(jobId: string, events: EventRow[]): Story {
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

function runTime({ type, at, details }: EventRow) {
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
  const worker = String(details['worker_id'])
  story.claims.push({ lease, worker, fence: Number(details['fence']), at, notBefore, end: null })
}

function settle(story: Story, event: EventRow) {
  const { id, type, at, details } = event
  const rule = transitions[type]
  if (rule === undefined) return void story.illegal.push(`event ${id}: ${type} is no event of this run`)
  // Only what waits without a budget is buried.
  const from = details['code'] === 'exhausted' ? ['waiting'] : rule.from
  if (!from.includes(story.state)) story.illegal.push(`event ${id}: ${type} while ${story.state}`)
  const holder = story.state === 'running' ? story.claims.at(-1) : undefined
  const writer = details['lease_id'] as string | null | undefined
  if (writer != null && writer !== holder?.lease)
    story.stale.push(`event ${id}: ${type} by lease ${writer}, held by ${holder?.lease}`)
  if (holder !== undefined) holder.end = event
  if (type === 'complete') story.completions.push({ generation: story.generation, lease: holder?.lease, at })
  if (type === 'released' || (type === 'cancelled' && details['cause'] !== undefined)) story.releases++
  // Whoever fails after a cancel was asked for has made the attempt. Whoever gives the job back has not, and tells no code.
  const isFailure = COUNTED.has(type) || (type === 'cancelled' && details['code'] !== undefined)
  if (isFailure && details['code'] !== 'exhausted') story.counted++
  story.state = rule.to
}
