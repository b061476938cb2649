// Results of declared jobs, as waits and runOnce return them: the stored value, after its schema.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineJobs, job } from '../../job/declared-jobs.ts'
import { memory } from '../../store/memory/index.ts'
import { unstuck } from '../unstuck.ts'

const jobs = defineJobs({
  invoice: job({ result: z.object({ at: z.coerce.date(), lines: z.number().default(1) }) }),
  mail: job({ result: z.object({ sent: z.boolean() }).optional() }),
  tick: job<unknown, { n: number }>(),
})

function openApplication() {
  const store = memory()
  const q = unstuck({ store, jobs, logger: false })
    .handle('invoice', () => ({ at: new Date('2030-01-31') }))
    .handle('mail', () => undefined)
    .handle('tick', () => ({ n: 3 }))
  return { q, store }
}

async function ended(type: keyof typeof jobs) {
  const { q, store } = openApplication()
  const { jobId } = await q.enqueue({ type })
  await q.drain()
  return { q, store, jobId }
}

it('WORK-9 WORK-8 a wait resolves with what the schema makes of the stored result', async () => {
  const { q, jobId } = await ended('invoice')
  const made = { at: new Date('2030-01-31'), lines: 1 }
  expect(await q.waitFor(jobId)).toEqual(made)
  const { at } = await q.waitFor(jobId, { type: 'invoice' })
  expect(at.getUTCFullYear()).toBe(2030)
  const enqueued = new Promise((resolve) => q.on('jobs:enqueued', resolve))
  const waited = q.enqueueAndWait({ type: 'invoice' })
  await enqueued
  await q.drain()
  expect(await waited).toEqual(made)
})

it('WORK-9 WORK-8 a result that is absent is undefined if the schema takes that, and as it is without a schema', async () => {
  const mail = await ended('mail')
  expect(await mail.q.waitFor(mail.jobId, { type: 'mail' })).toBeUndefined()
  const tick = await ended('tick')
  expect(await tick.q.waitFor(tick.jobId, { type: 'tick' })).toEqual({ n: 3 })
})

it('WORK-9 WORK-8 a stored result that does not fit is INVALID_RESULT, without its values', async () => {
  const { q, store } = openApplication()
  const jobId = store.plantJob({ type: 'invoice', status: 'succeeded', result: { at: 'hush' } })
  await expect(q.waitFor(jobId)).rejects.toMatchObject({
    code: 'INVALID_RESULT',
    message: 'the result does not fit the schema of invoice: one issue',
    details: { type: 'invoice' },
  })
})

it('WORK-9 WORK-8 a job of another type than the named one, or than the declared ones, is refused', async () => {
  const { q, jobId, store } = await ended('tick')
  await expect(q.waitFor(jobId, { type: 'invoice' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: `type: got "invoice", takes the type of job ${jobId}: tick`,
  })
  const foreign = store.plantJob({ type: 'other', status: 'succeeded' })
  await expect(q.waitFor(foreign)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

it('WORK-9 an unknown option of a wait is refused by name', async () => {
  const { q, jobId } = await ended('tick')
  // @ts-expect-error a typo
  await expect(q.waitFor(jobId, { timeout: 5 })).rejects.toThrow(
    'waitFor: unknown option timeout — did you mean timeoutMs? It takes timeoutMs, type, onProgress.',
  )
})

it('WORK-8 runOnce returns what the schema makes of the result', async () => {
  const { q } = openApplication()
  expect(await q.runOnce('invoice')).toEqual({ at: new Date('2030-01-31'), lines: 1 })
  expect(await q.runOnce('mail')).toBeUndefined()
})
