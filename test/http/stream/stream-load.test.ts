import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startServe } from '../../cli/support/serve-command.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { countQueries, type QueryCounter } from '../../support/query-counter.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { type EventSourceReader, readEventSource } from './event-source.ts'

let database: TestDatabase
let counter: QueryCounter

beforeAll(async () => {
  database = await createInstalledDatabase()
  counter = await countQueries(database.url)
})

afterAll(async () => {
  await counter.close()
  await database.drop()
})

const isCounts = ({ event }: { event: string }) => event === 'counts'

/** Counts come with every second poll: the number of polls between them does not depend on the load. */
async function queriesDuring(messages: number, reader: EventSourceReader): Promise<number> {
  await reader.next(isCounts)
  const before = counter.count()
  for (let n = 0; n < messages; n++) await reader.next(isCounts)
  return counter.count() - before
}

describe('a server process with many viewers', () => {
  it('SEE-5 fifty streams cost the database what one costs', async () => {
    const { url } = await startServe([], { DATABASE_URL: counter.url })
    const open = async () => {
      const reader = readEventSource(await fetch(`${url}/v1/stream`))
      onTestFinished(() => reader.close())
      return reader
    }
    const first = await open()
    const ofOne = await queriesDuring(3, first)
    expect(ofOne).toBeGreaterThan(5)
    const others = await Promise.all(Array.from({ length: 49 }, open))
    await Promise.all(others.map((reader) => reader.next(isCounts)))
    const ofFifty = await queriesDuring(3, first)
    // The clock is read now and then, and one of the streams may have opened late.
    expect(ofFifty).toBeLessThanOrEqual(ofOne + 10)
    expect(ofFifty).toBeGreaterThanOrEqual(ofOne - 10)
  }, 120_000)
})
