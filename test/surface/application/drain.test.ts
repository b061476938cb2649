// `drain` and `runOnce` over a real table: an application's tests may use their own database.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../src/unstuck/unstuck.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

interface Query {
  query(text: string, params?: unknown[]): Promise<unknown>
}

let database: TestDatabase
let q: Unstuck
beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table payments (job_id text primary key)')
  q = unstuck({ databaseUrl: database.url })
  q.handle('order', async (job) => {
    await q.enqueue({ type: 'pay', payload: { order: job.jobId } })
  }).handle('pay', (job, { tx }) =>
    tx(async (client) => {
      await (client as Query).query('insert into payments values ($1)', [job.jobId])
      return { paid: true }
    }),
  )
})
afterAll(async () => {
  await q.stop()
  await database.drop()
})

it('WORK-5 drain runs due jobs of the table with their transactions, and nothing that is delayed', async () => {
  await q.enqueueMany([{ type: 'order' }, { type: 'order' }, { type: 'order', delayMs: 3_600_000 }])
  expect(await q.drain()).toEqual({ completed: 4 })
  expect((await database.pool.query('select from payments')).rowCount).toBe(2)
  expect((await q.store.readHealth()).waiting).toBe(1)
})

it('WORK-5 runOnce commits the transaction of a handler, and leaves no job', async () => {
  const before = await database.pool.query('select from unstuck.jobs')
  expect(await q.runOnce('pay', {}, { jobId: 'by hand' })).toEqual({ paid: true })
  expect((await database.pool.query("select from payments where job_id = 'by hand'")).rowCount).toBe(1)
  expect((await database.pool.query('select from unstuck.jobs')).rowCount).toBe(before.rowCount)
})
