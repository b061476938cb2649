// Declared jobs on a real database: what is refused is never sent, and a stored payload is judged again before its handler.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJobs, job, type Unstuck, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const jobs = defineJobs({
  mail: job<{ to: string }>(),
  invoice: job({
    payload: z.object({ customer: z.string(), at: z.coerce.date(), lines: z.number().default(1) }),
    result: z.object({ total: z.number() }),
  }),
})

let database: TestDatabase
let q: Unstuck<typeof jobs>
let lines: object[]

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('delete from unstuck.jobs')
  lines = []
  const write = (fields: object) => void lines.push(fields)
  const logger = { info: write, warn: write, error: write }
  q = unstuck({ databaseUrl: database.url, jobs, logger, pollMs: [20, 40] })
})
afterEach(() => q.stop())

const ended = () =>
  new Promise<{ end: string; code?: string }>((resolve) => {
    q.on('job:ended', resolve)
  })

async function storedTypes(): Promise<string[]> {
  const { rows } = await database.pool.query<{ type: string }>('select type from unstuck.jobs order by id')
  return rows.map(({ type }) => type)
}

it('WORK-8 a handler gets the payload that its schema makes, and the result is stored', async () => {
  const seen: unknown[] = []
  q.handle('invoice', ({ payload }) => {
    seen.push(payload)
    return { total: payload.lines }
  })
  const end = ended()
  await q.start()
  const { jobId } = await q.enqueue({ type: 'invoice', payload: { customer: 'c', at: new Date(0) } })
  expect(await end).toMatchObject({ end: 'completed' })
  expect(seen).toEqual([{ customer: 'c', at: new Date(0), lines: 1 }])
  expect(await q.store.getJob(jobId)).toMatchObject({
    payload: { customer: 'c', at: '1970-01-01T00:00:00.000Z' },
    result: { total: 1 },
  })
})

it('WORK-8 one job of a batch that does not fit keeps all of them from being sent, and the transaction open', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('begin')
    const batch = [
      { type: 'mail', payload: { to: 'a' } },
      { type: 'invoice', payload: { customer: 7 as never, at: '' } },
    ] as const
    await expect(q.enqueueMany([...batch], { tx: client })).rejects.toThrow(
      'invoice: jobs[1].payload.customer: ',
    )
    for (const bad of [
      { type: '' },
      { priority: 1e6 },
      { runAt: new Date(0), delayMs: 1 },
      { runAt: '2020-01-01' },
    ])
      await expect(
        q.enqueue({ type: 'mail', payload: { to: 'a' }, ...(bad as object) }, { tx: client }),
      ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await q.enqueue({ type: 'mail', payload: { to: 'a' } }, { tx: client })
    await client.query('commit')
  } finally {
    await client.end()
  }
  expect(await storedTypes()).toEqual(['mail'])
})

it('WORK-8 FAIL-2 a stored payload that does not fit ends the job at once, and no log line shows it', async () => {
  q.handle('invoice', () => ({ total: 1 }))
  const { jobId } =
    (await q.store.enqueueJobs([{ type: 'invoice', payload: { customer: 'c', at: ['hush'] } }]))[0] ?? {}
  const end = ended()
  await q.start()
  expect(await end).toMatchObject({ end: 'dead', code: 'INVALID_PAYLOAD' })
  expect(await q.store.getJob(jobId ?? '')).toMatchObject({
    status: 'dead',
    attempt: 1,
    error: { code: 'INVALID_PAYLOAD', category: 'PERMANENT' },
  })
  await q.stop()
  expect(JSON.stringify(lines)).toContain('INVALID_PAYLOAD')
  expect(JSON.stringify(lines)).not.toContain('hush')
})

it('WORK-8 a result that does not fit ends the job', async () => {
  q.handle('invoice', () => ({ total: 'much' as unknown as number }))
  const end = ended()
  await q.start()
  await q.enqueue({ type: 'invoice', payload: { customer: 'c', at: 0 } })
  expect(await end).toMatchObject({ end: 'dead', code: 'INVALID_RESULT' })
})

it('WORK-8 undeclared types are neither enqueued nor handled nor scheduled', async () => {
  const mistyped = q as unknown as Unstuck
  const message = 'type: got "mial", takes one of the declared jobs: mail, invoice — did you mean mail?'
  await expect(mistyped.enqueue({ type: 'mial' })).rejects.toThrow(message)
  expect(() => mistyped.handle('mial', () => {})).toThrow(message)
  expect(() => mistyped.recurring('nightly', '0 3 * * *', { type: 'mial' })).toThrow(message)
  expect(() => q.recurring('nightly', '0 3 * * *', { type: 'invoice', payload: {} as never })).toThrow(
    'invoice: payload.customer: ',
  )
})

it('WORK-1 a handler or a schedule that comes after the start is refused', async () => {
  q.handle('mail', () => {})
  await q.start()
  expect(() => q.handle('invoice', () => ({ total: 1 }))).toThrow(
    'handle: got "invoice" after start(), takes calls before start()',
  )
  expect(() => q.recurring('nightly', '0 3 * * *', { type: 'mail', payload: { to: 'a' } })).toThrow(
    'recurring: got "nightly" after start()',
  )
})
