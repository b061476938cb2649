// The answer to a claim, as the client receives it.
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const [table] = nativeProfile('unstuck').tables
let database: TestDatabase
let sizes: number[] = []
/** The pool, with a look at how long the values of its answers are. */
let measured: Pick<pg.Pool, 'query'>

beforeAll(async () => {
  database = await createInstalledDatabase()
  measured = new Proxy(database.pool, {
    get: (pool, name) => {
      const value: unknown = Reflect.get(pool, name)
      if (name !== 'query') return typeof value === 'function' ? (value.bind(pool) as unknown) : value
      return async (text: string, params: unknown[]) => {
        const answer = await pool.query<Record<string, unknown>>(text, params)
        for (const row of answer.rows)
          for (const value of Object.values(row)) sizes.push(String(value).length)
        return answer
      }
    },
  })
})
afterAll(() => database.drop())

it('WORK-7 a claim of many jobs with large payloads is never one string: JavaScript has none over 512 MB', async () => {
  const size = 10_000
  const store = createPostgresStore({ client: measured, table })
  const payloads = Array.from({ length: 100 }, (_, nth) => `${nth} `.padEnd(size, 'x'))
  await store.enqueueJobs(payloads.map((payload) => ({ type: 'clip', payload })))
  sizes = []
  const jobs = await store.claimJobs({ workerId: 'w', queues: ['clip'], limit: 100 })
  expect(jobs.map(({ payload }) => payload)).toEqual(payloads)
  expect(new Set(jobs.map(({ leaseId }) => leaseId)).size).toBe(1)
  expect(Math.max(...sizes)).toBeLessThan(70 * size)
})
