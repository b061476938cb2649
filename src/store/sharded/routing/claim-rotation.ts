// Claims from one shard after the other, each claim starting with the next, until the limit is reached. A shard that does
// not answer is left out until it does.
import type { ClaimedJob } from '../../../job/lease.ts'
import type { ClaimCursors, ClaimRequest, Shard } from '../../job-store.ts'
import { ANSWER_MS, type ShardSet, silentShard } from './shard-set.ts'

type Position = Map<string, Map<number, Date>>

const RELEASE_TRIES = 5

export class ClaimRotation<Tx> {
  readonly #shards: ShardSet<Tx>
  #turn: number
  /** Times of one shard say nothing about the jobs of another: each has positions of its own behind the caller's. */
  readonly #positions = new WeakMap<ClaimCursors, Map<Shard<Tx>, Position>>()

  constructor(shards: ShardSet<Tx>) {
    this.#shards = shards
    this.#turn = Math.floor(Math.random() * shards.all.length)
  }

  async claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    const jobs: ClaimedJob[] = []
    let answered = 0
    let failure: Error | undefined
    for (const shard of this.#order()) {
      const allowed = request.limitOfShard?.(shard.number) ?? Number.POSITIVE_INFINITY
      // Not compared with 0: an invalid limit is for the shard to refuse.
      const limit = Math.min(request.limit - jobs.length, allowed)
      try {
        if (allowed > 0) jobs.push(...(await this.#claimFrom(shard, { ...request, limit })))
        answered++
      } catch (error) {
        failure = error as Error
      }
      if (jobs.length >= request.limit) break
    }
    if (answered === 0) throw failure ?? silentShard(this.#shards.first)
    return jobs
  }

  #order(): Shard<Tx>[] {
    const { all } = this.#shards
    const start = this.#turn++ % all.length
    const order = [...all.slice(start), ...all.slice(0, start)]
    const ready = order.filter((shard) => shard.canClaim() && this.#shards.isAnswering(shard))
    return ready
  }

  async #claimFrom(shard: Shard<Tx>, request: ClaimRequest): Promise<ClaimedJob[]> {
    const position = request.cursors === undefined ? undefined : this.#positionOf(request.cursors, shard)
    const own = position === undefined ? request : { ...request, cursors: position }
    const jobs = await this.#shards.noted(shard, this.#inTime(shard, shard.store.claimJobs(own)))
    if (position !== undefined) advance(position, jobs)
    return jobs
  }

  /** All of them start where the caller's is when it is first seen: the caller moves it past jobs of any shard. */
  #positionOf(cursors: ClaimCursors, shard: Shard<Tx>): Position | undefined {
    const known = this.#positions.get(cursors)
    const positions = known ?? new Map(this.#shards.all.map((each) => [each, copyOf(cursors)]))
    if (known === undefined) this.#positions.set(cursors, positions)
    return positions.get(shard)
  }

  /** The lease of a job that comes later counts from a time that the caller does not know: it is released. */
  #inTime(shard: Shard<Tx>, call: Promise<ClaimedJob[]>): Promise<ClaimedJob[]> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        reject(silentShard(shard))
      }, ANSWER_MS)
      call.then(
        (jobs) => {
          clearTimeout(timer)
          if (isLate) void releaseLate(shard, jobs)
          else resolve(jobs)
        },
        (error: unknown) => {
          clearTimeout(timer)
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
  }
}

function copyOf(cursors: ClaimCursors): Position {
  return new Map(Array.from(cursors, ([queue, times]) => [queue, new Map(times)]))
}

/** A job is due at its creation or later, so its creation time skips nothing that becomes due after it. */
function advance(position: Position, jobs: ClaimedJob[]): void {
  for (const { queue, priority, createdAt } of jobs) {
    const times = position.get(queue) ?? new Map<number, Date>()
    position.set(queue, times)
    const known = times.get(priority)
    if (known === undefined || known < createdAt) times.set(priority, createdAt)
  }
}

async function releaseLate<Tx>({ store }: Shard<Tx>, jobs: ClaimedJob[]): Promise<void> {
  for (let tries = 0; jobs.length > 0 && tries < RELEASE_TRIES; tries++) {
    try {
      await store.releaseJobs(jobs)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS).unref())
    }
  }
}
