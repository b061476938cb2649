import { setTimeout as sleep } from 'node:timers/promises'
import type { AccessStore, FeedEvent } from '../../store/access-store.ts'

const PAGE = 1_000
const POLL_MS = 1_000
/** Ids are assigned before commit: a smaller id may become visible later, so the last ones are read again. */
const OVERLAP = 200n
/** How far back to read: other events lie between the matching ones. */
const LOOK_BACK = 10_000

export type EventFilter = (event: FeedEvent) => boolean

/** How far a reader has got. An event is new if its id is greater than `after` and not in `seen`. */
export interface TailPosition {
  after: bigint
  seen: Set<string>
}

/** The newest matching events, oldest first, and the position after them. Reads the last 10,000 only. */
export async function latestEvents(
  access: AccessStore,
  limit: number,
  fits: EventFilter,
): Promise<{ events: FeedEvent[]; position: TailPosition }> {
  const start = await access.findEventsStart(limit === 0 ? Number(OVERLAP) : LOOK_BACK)
  const position: TailPosition = { after: BigInt(start), seen: new Set() }
  const found: FeedEvent[] = []
  for (;;) {
    const { events, isLast } = await readPage(access, position)
    found.push(...events.filter(fits))
    found.splice(0, Math.max(0, found.length - limit))
    if (isLast) return { events: found, position }
  }
}

/** Every matching event from the position on, until the signal. */
export async function* followEvents(
  access: AccessStore,
  position: TailPosition,
  { fits, signal }: { fits: EventFilter; signal: AbortSignal },
): AsyncGenerator<FeedEvent> {
  while (!signal.aborted) {
    const { events, isLast } = await readPage(access, position)
    yield* events.filter(fits)
    if (isLast) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

/** The new events of one page. Moves the position. */
async function readPage(
  access: AccessStore,
  position: TailPosition,
): Promise<{ events: FeedEvent[]; isLast: boolean }> {
  const page = await access.listNewEvents(String(position.after), PAGE)
  const events = page.filter(({ id }) => !position.seen.has(id))
  for (const { id } of events) position.seen.add(id)
  const settled = BigInt(page.at(-1)?.id ?? 0) - OVERLAP
  if (settled > position.after) position.after = settled
  for (const id of position.seen) if (BigInt(id) <= position.after) position.seen.delete(id)
  return { events, isLast: page.length < PAGE }
}
