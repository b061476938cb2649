// The shards of an installation: which one a job belongs to, and which of them answer.
import { createHash } from 'node:crypto'
import { isOutage, isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import type { NewJob } from '../../../job/job.ts'
import type { Shard, Shards } from '../../job-store.ts'
import { type ShardRoute, shardNumberOf } from '../../shards.ts'
import { groupBy, type Part } from './group-by.ts'
import { homeKeyOf } from './require-shard.ts'

export interface ShardSetOptions<Tx> {
  shards: Shard<Tx>[]
  /** Default: `spread`. */
  route?: ShardRoute
  /** A shard stopped answering, or, with null, answers again. */
  onReach?: (shard: Shard<Tx>, error: unknown) => void
}

/** A shard that failed is asked again in the background after this time, doubled up to the longest. */
const FIRST_REST_MS = 500
const LONGEST_REST_MS = 5_000
/** A shard that takes longer to answer a read or a claim is left out. */
export const ANSWER_MS = 2_000

interface Failure {
  restMs: number
  probeAtMs: number
  isProbing: boolean
}

export class ShardSet<Tx> implements Shards<Tx> {
  readonly all: readonly Shard<Tx>[]
  readonly #byNumber: Map<number, Shard<Tx>>
  readonly #open: Shard<Tx>[]
  readonly #route: ShardRoute
  readonly #onReach: (shard: Shard<Tx>, error: unknown) => void
  readonly #failing = new Map<Shard<Tx>, Failure>()

  constructor({ shards, route = 'spread', onReach = () => {} }: ShardSetOptions<Tx>) {
    this.all = shards.toSorted((a, b) => a.number - b.number)
    this.#byNumber = new Map(this.all.map((shard) => [shard.number, shard]))
    this.#open = this.all.filter(({ isDraining }) => !isDraining)
    this.#route = route
    this.#onReach = onReach
  }

  get first(): Shard<Tx> {
    const [first] = this.all
    if (first === undefined) throw new Error('a sharded store has no shard')
    return first
  }

  /** An id of no shard is asked for at the first one, which answers that there is no such job. */
  of(jobId: string): Shard<Tx> {
    return this.#byNumber.get(shardNumberOf(jobId)) ?? this.first
  }

  /** A key must be found where it was: its shard is never replaced by another that answers. */
  forKey(key: string): Shard<Tx> {
    return this.#ranked(key)[0] ?? this.first
  }

  forJob(job: NewJob): Shard<Tx> {
    const homeKey = homeKeyOf(job)
    if (homeKey !== undefined) return this.forKey(homeKey)
    const key = this.#routeKey(job)
    const places = key === undefined ? this.#shuffled() : this.#ranked(key)
    return places.find((shard) => this.isAnswering(shard)) ?? places[0] ?? this.first
  }

  /** Something about the job decides where it goes. */
  isPlaced(job: NewJob): boolean {
    return homeKeyOf(job) !== undefined || this.#routeKey(job) !== undefined
  }

  #routeKey({ owner, queue, type }: NewJob): string | undefined {
    if (this.#route === 'owner') return owner
    return this.#route === 'queue' ? (queue ?? type) : undefined
  }

  /** Groups items by the shard of their job, with their places in the list. */
  split<Item>(items: readonly Item[], idOf: (item: Item) => string): Map<Shard<Tx>, Part<Item>> {
    return groupBy(items, (item) => this.of(idOf(item)))
  }

  /** False while calls fail. Asks again in the background, so that nobody waits for a shard that is down. */
  isAnswering(shard: Shard<Tx>): boolean {
    const failure = this.#failing.get(shard)
    if (failure === undefined) return true
    if (!failure.isProbing && performance.now() >= failure.probeAtMs) void this.#probe(shard, failure)
    return false
  }

  /**
   * Notes whether the shard answered, and passes the answer on. A shard that takes too long counts as silent meanwhile: other calls
   * that may go elsewhere do not wait behind this one.
   */
  async noted<T>(shard: Shard<Tx>, call: Promise<T>): Promise<T> {
    const late = setTimeout(() => this.noteFailure(shard, silentShard(shard)), ANSWER_MS)
    try {
      const answer = await call
      this.noteAnswer(shard)
      return answer
    } catch (error) {
      if (isOutage(error)) this.noteFailure(shard, error)
      throw named(shard, error)
    } finally {
      clearTimeout(late)
    }
  }

  noteAnswer(shard: Shard<Tx>): void {
    if (this.#failing.delete(shard)) this.#onReach(shard, null)
  }

  noteFailure(shard: Shard<Tx>, error: unknown): void {
    const isNew = !this.#failing.has(shard)
    if (isNew)
      this.#failing.set(shard, {
        restMs: FIRST_REST_MS,
        probeAtMs: nextProbe(FIRST_REST_MS),
        isProbing: false,
      })
    if (isNew) this.#onReach(shard, error)
  }

  async #probe(shard: Shard<Tx>, failure: Failure): Promise<void> {
    failure.isProbing = true
    try {
      await shard.store.readPolicy()
      this.noteAnswer(shard)
    } catch {
      failure.restMs = Math.min(2 * failure.restMs, LONGEST_REST_MS)
      failure.probeAtMs = nextProbe(failure.restMs)
    } finally {
      failure.isProbing = false
    }
  }

  /** By rendezvous hashing: a shard that is added takes its share of the keys, and all others stay where they are. */
  #ranked(key: string): Shard<Tx>[] {
    const weight = ({ number }: Shard<Tx>) =>
      createHash('sha1').update(`${number} ${key}`).digest().readUIntBE(0, 6)
    const weighed = this.#open.map((shard) => ({ shard, weight: weight(shard) }))
    return weighed.toSorted((a, b) => b.weight - a.weight).map(({ shard }) => shard)
  }

  #shuffled(): Shard<Tx>[] {
    const start = Math.floor(Math.random() * this.#open.length)
    return [...this.#open.slice(start), ...this.#open.slice(0, start)]
  }
}

const nextProbe = (restMs: number) => performance.now() + restMs * (0.5 + Math.random() / 2)

export const silentShard = ({ name }: Pick<Shard, 'name'>) =>
  new UnstuckError('DATABASE_UNREACHABLE', `${name}: no answer within ${ANSWER_MS} ms`, {
    details: { shard: name },
  })

/** Names the shard that an error came from. */
function named(shard: Pick<Shard, 'name'>, error: unknown): unknown {
  if (!isUnstuckError(error) || 'shard' in error.details) return error
  return new UnstuckError(error.code, `${shard.name}: ${error.message}`, {
    details: { ...error.details, shard: shard.name },
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    cause: error,
  })
}
