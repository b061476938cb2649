// The layout of native ids, which clients may read (docs/adr/0024).
import { expect, it, onTestFinished } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createMemoryStore } from '../../src/store/memory/memory-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'

async function openPostgres(): Promise<JobStore> {
  const database = await createInstalledDatabase()
  onTestFinished(() => database.drop())
  return createPostgresStore({ client: await database.connect(), table: nativeProfile('unstuck').tables[0] })
}

/** The bits from `start` on, as a number. */
function bitsOf(id: string, start: number, count: number): number {
  const value = BigInt(`0x${id.replaceAll('-', '')}`)
  return Number(BigInt.asUintN(count, value >> BigInt(128 - start - count)))
}

it.each([
  ['PostgreSQL', openPostgres],
  ['memory', () => createMemoryStore()],
])('WORK-7 an id of the %s store has the time, version 7, shard 0 and 48 random bits', async (_, open) => {
  const store = await open()
  const beforeMs = Date.now()
  const jobs = await store.enqueueJobs(Array.from({ length: 50 }, () => ({ type: 'asr' })))
  const ids = jobs.map(({ jobId }) => jobId)
  for (const id of ids) {
    expect(Math.abs(bitsOf(id, 0, 48) - beforeMs)).toBeLessThan(60_000)
    expect(bitsOf(id, 48, 4)).toBe(7)
    expect(bitsOf(id, 64, 2)).toBe(0b10)
    expect(bitsOf(id, 68, 12)).toBe(0)
  }
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids.map((id) => bitsOf(id, 80, 48))).size).toBe(50)
})
