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
/** Upper bits of an id are the number of the node of Citus that gave it, so ids of a shard that has moved do not always grow. */
const NODE_BITS = 48n

/** By node. */
type Positions = Map<bigint, Position>

interface Position {
  newest: bigint
  /** Those within reach of a late one. */
  seen: Set<string>
}

export class ShardedFeed<Tx> {
  readonly #shards: ShardSet<Tx>
  readonly #accessOf: (shard: Shard<Tx>) => AccessStore
  readonly #positions = new Map<Shard<Tx>, Positions>()
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
    for (const { shard, answer } of answers) this.#positions.set(shard, answer.positions)
    const events = answers.flatMap(({ answer }) => answer.events)
    for (const event of events.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
      this.#lastId++
      this.#events.push({ ...event, id: String(this.#lastId) })
    }
    this.#events = this.#events.slice(-KEPT)
  }

  async #readShard(shard: Shard<Tx>, past: number): Promise<{ events: FeedEvent[]; positions: Positions }> {
    const access = this.#accessOf(shard)
    const known = this.#positions.get(shard)
    const positions: Positions = new Map(known)
    const events: FeedEvent[] = []
    for (const last of (await access.lastEventIds()).map(BigInt)) {
      const node = last >> NODE_BITS
      // All events of a node that a shard has moved to are new.
      const unread = { newest: node << NODE_BITS, seen: new Set<string>() }
      const position =
        known === undefined ? await startOf(access, last, past) : (positions.get(node) ?? unread)
      const page = await readNode(access, position, last)
      events.push(...page.filter(({ id }) => !position.seen.has(id)))
      positions.set(node, positionAfter(page, position))
    }
    return { events, positions }
  }
}

/** Events of one node up to its last one, those within reach of a late one once more. */
async function readNode(
  access: AccessStore,
  { newest }: Pick<Position, 'newest'>,
  last: bigint,
): Promise<FeedEvent[]> {
  const from = greatest((last >> NODE_BITS) << NODE_BITS, newest - LATE_IDS)
  const limit = Math.min(PAGE + Number(LATE_IDS), Number(last - from))
  if (limit <= 0) return []
  const page = await access.listNewEvents(String(from), limit)
  return page.filter(({ id }) => BigInt(id) <= last)
}

function positionAfter(page: FeedEvent[], former: Position): Position {
  if (page.length === 0) return former
  const newest = page.reduce((most, { id }) => greatest(most, BigInt(id)), former.newest)
  const seen = page.map(({ id }) => id).filter((id) => BigInt(id) > newest - LATE_IDS)
  return { newest, seen: new Set(seen) }
}

/** Visible events count as seen, except for the last `past` ones. */
async function startOf(access: AccessStore, last: bigint, past: number): Promise<Position> {
  const newest = greatest((last >> NODE_BITS) << NODE_BITS, last - BigInt(past))
  const before = await readNode(access, { newest }, newest)
  return { newest, seen: new Set(before.map(({ id }) => id)) }
}

const greatest = (a: bigint, b: bigint) => (a > b ? a : b)
