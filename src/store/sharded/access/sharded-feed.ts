// New events of all shards in one order. Ids of different shards cannot be compared, so this process numbers the events as it reads
// them; a viewer that comes back from another process resumes with what this one still holds.
import type { AccessStore, FeedEvent } from '../../access-store.ts'
import type { Shard } from '../../job-store.ts'
import { readAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

const PAGE = 1_000
/** Ids are given before the commit: an event may appear behind one with a greater id, up to this many. */
const LATE_IDS = 500n
const KEPT = 10_000

interface Position {
  newest: bigint
  /** Those within reach of a late one. */
  seen: Set<string>
}

export class ShardedFeed<Tx> {
  readonly #shards: ShardSet<Tx>
  readonly #accessOf: (shard: Shard<Tx>) => AccessStore
  readonly #positions = new Map<Shard<Tx>, Position>()
  #events: FeedEvent[] = []
  /** Greater than the ids of an earlier process. */
  #lastId = BigInt(Date.now()) * 1_000n
  #reading: Promise<void> = Promise.resolve()

  constructor(shards: ShardSet<Tx>, accessOf: (shard: Shard<Tx>) => AccessStore) {
    this.#shards = shards
    this.#accessOf = accessOf
  }

  async lastId(): Promise<string> {
    await this.#read(0)
    return String(this.#lastId)
  }

  async findStart(events: number): Promise<string> {
    await this.#read(events)
    const first = this.#events.at(-events) ?? this.#events[0]
    return String(first === undefined ? this.#lastId : BigInt(first.id) - 1n)
  }

  async listAfter(id: bigint, limit: number): Promise<FeedEvent[]> {
    await this.#read(0)
    return this.#events.filter((event) => BigInt(event.id) > id).slice(0, limit)
  }

  /** One read at a time. `past` is for shards that have not been read yet. */
  #read(past: number): Promise<void> {
    const read = this.#reading.then(() => this.#readNow(past))
    this.#reading = read.catch(() => {})
    return read
  }

  async #readNow(past: number): Promise<void> {
    const { answers } = await readAll(this.#shards, (shard) => this.#readShard(shard, past))
    // Only now: a shard that answered too late is asked for the same events again.
    for (const { shard, answer } of answers) this.#positions.set(shard, answer.position)
    const events = answers.flatMap(({ answer }) => answer.events)
    for (const event of events.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
      this.#lastId++
      this.#events.push({ ...event, id: String(this.#lastId) })
    }
    this.#events = this.#events.slice(-KEPT)
  }

  async #readShard(shard: Shard<Tx>, past: number): Promise<{ events: FeedEvent[]; position: Position }> {
    const access = this.#accessOf(shard)
    const position = this.#positions.get(shard) ?? (await startOf(access, past))
    const from = position.newest > LATE_IDS ? position.newest - LATE_IDS : 0n
    const page = await access.listNewEvents(String(from), PAGE + Number(LATE_IDS))
    const events = page.filter(({ id }) => !position.seen.has(id))
    const newest = page.reduce((most, { id }) => (BigInt(id) > most ? BigInt(id) : most), position.newest)
    const seen = new Set(page.map(({ id }) => id).filter((id) => BigInt(id) > newest - LATE_IDS))
    return { events, position: { newest, seen } }
  }
}

/** Visible events count as seen, except for the last `past` ones. */
async function startOf(access: AccessStore, past: number): Promise<Position> {
  const newest = BigInt(
    past === 0 ? (await access.readClock()).lastEventId : await access.findEventsStart(past),
  )
  const from = newest > LATE_IDS ? newest - LATE_IDS : 0n
  const before = await access.listNewEvents(String(from), PAGE + Number(LATE_IDS))
  const seen = before.map(({ id }) => id).filter((id) => BigInt(id) <= newest)
  return { newest, seen: new Set(seen) }
}
