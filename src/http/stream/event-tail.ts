// New events in the order in which they become visible. Ids are assigned before commit, so an event may appear after one with
// a greater id: a skipped id is polled until no open transaction can commit it.
import type { AccessStore, FeedEvent } from '../../store/access-store.ts'

const PAGE = 1_000
/** How far before the newest event skipped ids are searched, at the start and after a reconnect. */
const START_WINDOW = 200n
const REPLAY_WINDOW = 10_000n
/** Maximum number of polled ids; then the lowest are dropped. */
const MAX_MISSING = 20_000

export type EventReader = Pick<
  AccessStore,
  'hasOrderedEvents' | 'readClock' | 'listNewEvents' | 'listLateEvents' | 'readHorizon'
>

export class EventTail {
  readonly #reader: EventReader
  #newest: bigint | undefined
  #started: Promise<bigint> | undefined
  /** With the next transaction id at a later read: the transaction that was given this event id has a lower one. */
  readonly #missing = new Map<bigint, bigint | null>()
  /** No longer missing, not returned yet. */
  readonly #found: FeedEvent[] = []
  #sorted: bigint[] | undefined

  constructor(reader: EventReader) {
    this.#reader = reader
  }

  /** Events visible since the last call; the first call starts now, or where the past of a viewer ended. */
  async next(): Promise<FeedEvent[]> {
    const from = await this.#knownNewest()
    this.#found.push(...(await this.#findMissing()))
    const events = await this.#page(from)
    const newest = events.at(-1)
    this.#newest = newest === undefined ? from : BigInt(newest.id)
    return [...this.#found.splice(0), ...events]
  }

  /** A page of the past, for a viewer that reconnected. */
  async after(id: bigint): Promise<FeedEvent[]> {
    return this.#page(id, (await this.#knownNewest()) - REPLAY_WINDOW)
  }

  /** Events that a viewer missed, although it received later ones. */
  async among(ids: readonly bigint[]): Promise<FeedEvent[]> {
    if (ids.length === 0) return []
    const newest = await this.#knownNewest()
    const events = await this.#reader.listLateEvents(ids.map(String))
    const found = new Set(events.map(({ id }) => BigInt(id)))
    this.#miss(ids.filter((id) => !found.has(id) && id <= newest))
    return events
  }

  /** Ids that may still appear, lowest first. */
  missing(limit: number): bigint[] {
    this.#sorted ??= [...this.#missing.keys()].toSorted((a, b) => (a < b ? -1 : 1))
    return this.#sorted.slice(0, limit)
  }

  /** One start for all callers: no event is lost between a viewer's past and the live feed. */
  async #knownNewest(): Promise<bigint> {
    if (this.#newest !== undefined) return this.#newest
    this.#started ??= this.#start().finally(() => {
      this.#started = undefined
    })
    return this.#started
  }

  async #start(): Promise<bigint> {
    const last = BigInt((await this.#reader.readClock()).lastEventId)
    const from = last > START_WINDOW ? last - START_WINDOW : 0n
    const seen = await this.#reader.listNewEvents(String(from), PAGE)
    this.#missBetween(
      from,
      seen.filter(({ id }) => BigInt(id) <= last).map(({ id }) => BigInt(id)),
    )
    this.#newest = last
    return last
  }

  async #page(from: bigint, watchedFrom = from): Promise<FeedEvent[]> {
    const events = await this.#reader.listNewEvents(String(from), PAGE)
    const ids = events.map(({ id }) => BigInt(id))
    this.#missBetween(watchedFrom > from ? watchedFrom : from, ids)
    return events
  }

  #missBetween(from: bigint, ids: readonly bigint[]): void {
    if (this.#reader.hasOrderedEvents === true) return
    const gaps: bigint[] = []
    let previous = from
    for (const id of ids) {
      const gapFrom = id - previous > REPLAY_WINDOW ? id - REPLAY_WINDOW : previous + 1n
      for (let gap = gapFrom; gap < id; gap++) gaps.push(gap)
      if (id > previous) previous = id
    }
    if (gaps.length > 0) this.#miss(gaps)
  }

  #miss(ids: Iterable<bigint>): void {
    for (const id of ids) if (!this.#missing.has(id)) this.#missing.set(id, null)
    this.#sorted = undefined
    for (const id of this.missing(Math.max(0, this.#missing.size - MAX_MISSING))) this.#missing.delete(id)
    this.#sorted = undefined
  }

  async #findMissing(): Promise<FeedEvent[]> {
    if (this.#missing.size === 0) return []
    // Read first: an id still invisible after all earlier transactions have ended was rolled back.
    const { oldestXid, nextXid } = await this.#reader.readHorizon()
    const asked = [...this.#missing]
    const events = await this.#reader.listLateEvents(asked.map(([id]) => String(id)))
    for (const { id } of events) this.#missing.delete(BigInt(id))
    for (const [id, givenBefore] of asked) {
      if (!this.#missing.has(id)) continue
      if (givenBefore === null) this.#missing.set(id, nextXid)
      else if (givenBefore <= oldestXid) this.#missing.delete(id)
    }
    this.#sorted = undefined
    return events
  }
}
