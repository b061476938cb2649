// I21 and I22: how many jobs of a queue and of a group ran at once, and in which order, from the order of events. A claim counts
// what runs before it writes its event, and an end writes its event before it commits. Ids of events are drawn one by one: a job
// whose end has a later id than a claim was still running when that claim counted.
import type { EventRow, History, JobRow, Violation } from './history.ts'
import { transitions } from './job-story.ts'

const ENDS = ['succeeded', 'dead', 'cancelled']

export function* checkQueueLimits(history: History): Iterable<Violation> {
  for (const found of replayLimits(history)) if ('invariant' in found) yield found
}

/** Claims from queues with limits, and how many of them took the last place: a run without any shows nothing. */
export function countLimitedClaims(history: History): { claims: number; lastPlaces: number } {
  const claims = [...replayLimits(history)].filter((found) => 'isLast' in found)
  return { claims: claims.length, lastPlaces: claims.filter(({ isLast }) => isLast).length }
}

function* replayLimits({
  events,
  jobs,
  limits,
  enqueuedIds,
}: History): Iterable<Violation | { isLast: boolean }> {
  const rows = new Map(jobs.map((job) => [job.id, job]))
  const places = new Places()
  const order = new GroupOrder(enqueuedIds)
  for (const event of events) {
    const job = rows.get(event.jobId)
    const limit = limits[job?.queue ?? '']
    if (job === undefined || limit === undefined) continue
    const to = stateAfter(event)
    if (to === 'running') {
      const taken = placesOf(job, limit).map(([name, most]) => ({
        name,
        most,
        running: places.take(name, job.id),
      }))
      for (const { name, most, running } of taken)
        if (running > most)
          yield {
            invariant: 'I21',
            message: `job ${job.id} is one of ${running} that run at once of ${name}, at most ${most}`,
          }
      yield { isLast: taken.some(({ most, running }) => running === most) }
      const earlier = limit.groupOrder === 'fifo' ? order.unfinishedBefore(job) : undefined
      if (earlier !== undefined)
        yield {
          invariant: 'I22',
          message: `job ${job.id} was claimed before ${earlier} of its group ${job.group}`,
        }
    } else if (to !== null) {
      for (const [name] of placesOf(job, limit)) places.free(name, job.id)
    }
    if (to !== null) order.note(job, ENDS.includes(to))
  }
}

/** Null for remarks. */
function stateAfter({ type }: EventRow): string | null {
  if (type === 'queued') return 'waiting'
  return type === 'processing' ? 'running' : (transitions[type]?.to ?? null)
}

function placesOf(
  { queue, group }: JobRow,
  { concurrency, groupConcurrency }: History['limits'][string],
): [name: string, most: number][] {
  return [
    ...(concurrency === undefined ? [] : [[`queue ${queue}`, concurrency] as [string, number]]),
    ...(groupConcurrency === undefined || group === null
      ? []
      : [[`group ${group} of ${queue}`, groupConcurrency] as [string, number]]),
  ]
}

/** Running jobs by queue, and by group. */
class Places {
  readonly #running = new Map<string, Set<string>>()

  /** Returns how many run, this one included. */
  take(name: string, jobId: string): number {
    const running = this.#running.get(name) ?? new Set()
    this.#running.set(name, running.add(jobId))
    return running.size
  }

  free(name: string, jobId: string): void {
    this.#running.get(name)?.delete(jobId)
  }
}

/** Unfinished jobs by group. */
class GroupOrder {
  readonly #unfinished = new Map<string, Set<string>>()
  /** A job that the producer got an answer about was there before any later one was sent. */
  readonly #acknowledged: Map<string, number>

  constructor(enqueuedIds: string[]) {
    this.#acknowledged = new Map(enqueuedIds.map((jobId, place) => [jobId, place]))
  }

  note({ id, queue, group }: JobRow, hasEnded: boolean): void {
    const name = `${queue} ${group}`
    const unfinished = this.#unfinished.get(name) ?? new Set()
    if (hasEnded) unfinished.delete(id)
    else unfinished.add(id)
    this.#unfinished.set(name, unfinished)
  }

  unfinishedBefore({ id, queue, group }: JobRow): string | undefined {
    const place = this.#acknowledged.get(id)
    if (place === undefined || group === null) return undefined
    const isEarlier = (other: string) =>
      other < id && (this.#acknowledged.get(other) ?? Number.POSITIVE_INFINITY) < place
    return [...(this.#unfinished.get(`${queue} ${group}`) ?? [])].find(isEarlier)
  }
}
