// The cursor of several shards: one text with the cursor of each.
import { invalidArgument } from '../../../errors/index.ts'
import type { Shard } from '../../job-store.ts'

/** By shard: its own cursor, null at its start. A shard that is done is missing. */
export type CursorMap = Map<number, string | null>

export function writeCursor(cursors: CursorMap): string | null {
  if (cursors.size === 0) return null
  return Buffer.from(JSON.stringify([...cursors])).toString('base64url')
}

/** Without a cursor every shard is at its start. */
export function readCursor(cursor: string | undefined, shards: readonly Shard<unknown>[]): CursorMap {
  if (cursor === undefined) return new Map(shards.map(({ number }) => [number, null]))
  try {
    const entries: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(entries) && entries.every(isEntry)) return new Map(entries)
  } catch {
    // Reported below.
  }
  throw invalidArgument('cursor', cursor, 'the next of an earlier page')
}

function isEntry(entry: unknown): entry is [number, string | null] {
  return (
    Array.isArray(entry) && Number.isInteger(entry[0]) && (entry[1] === null || typeof entry[1] === 'string')
  )
}
