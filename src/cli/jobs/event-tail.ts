import { setTimeout as sleep } from 'node:timers/promises'
import type { AccessStore, FeedEvent } from '../../store/access-store.ts'

const PAGE = 1_000
const POLL_MS = 1_000
/** Ids are assigned before commit: a smaller id may become visible later, so the last ones are read again. */
const OVERLAP = 200n
/** How far back to read: other events lie between the matching ones. */
const LOOK_BACK = 10_000

export type EventFilter = (event: FeedEvent) => boolean

/** The newest matching events, oldest first. Reads the last 10,000 only. */
export async function latestEvents(
  access: AccessStore,
  limit: number,
  fits: EventFilter,
): Promise<FeedEvent[]> {
  const found: FeedEvent[] = []
  let after = await access.findEventsStart(LOOK_BACK)
  for (;;) {
    const page = await access.listNewEvents(after, PAGE)
    found.push(...page.filter(fits))
    found.splice(0, Math.max(0, found.length - limit))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return found
    after = last.id
  }
}

/** Every new event until the signal. Skips the ids in `seen`. */
export async function* followEvents(
  access: AccessStore,
  { fits, signal, seen = new Set() }: { fits: EventFilter; signal: AbortSignal; seen?: Set<string> },
): AsyncGenerator<FeedEvent> {
  let newest = (await access.readClock()).lastEventId
  const start = BigInt(newest)
  // Events visible in the overlap at the start are old.
  for (const { id } of await access.listNewEvents(before(newest, OVERLAP), PAGE))
    if (BigInt(id) <= start) seen.add(id)
  while (!signal.aborted) {
    const page = await access.listNewEvents(before(newest, OVERLAP), PAGE)
    for (const event of page) {
      if (seen.has(event.id)) continue
      seen.add(event.id)
      if (BigInt(event.id) > BigInt(newest)) newest = event.id
      if (fits(event)) yield event
    }
    for (const id of seen) if (BigInt(id) <= BigInt(before(newest, OVERLAP))) seen.delete(id)
    if (page.length < PAGE) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

function before(id: string, count: bigint): string {
  const from = BigInt(id) - count
  return String(from > 0n ? from : 0n)
}
