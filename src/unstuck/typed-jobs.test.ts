// The types of declared jobs. The compiler checks them in `npm run check`; nothing in `compiles` runs.
import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  type BatchHandlerOf,
  type ClaimedJob,
  defineJobs,
  type EnqueuedJob,
  type HandlerOf,
  type JsonValue,
  job,
  type PayloadInputOf,
  type PayloadOf,
  type ResultInputOf,
  type ResultOf,
  type Unstuck,
  type UnstuckOptions,
  unstuck,
} from '../index.ts'

interface Mail {
  to: string
  copies?: number
}

const jobs = defineJobs({
  mail: job<Mail>(),
  invoice: job({
    payload: z.object({ customer: z.string(), at: z.coerce.date(), lines: z.number().default(1) }),
    result: z.object({ total: z.string().transform(Number) }),
  }),
  count: job<{ upTo: number }, { counted: number }>(),
  tick: job(),
})
type Jobs = typeof jobs

/** Never called: the compiler reads it. */
function compiles(_code: (q: Unstuck<Jobs>, open: Unstuck) => unknown): void {}

describe('declared jobs', () => {
  it('WORK-8 have the types of their schemas, before and after', () => {
    expectTypeOf<PayloadInputOf<Jobs, 'invoice'>>().toEqualTypeOf<{
      customer: string
      at: unknown
      lines?: number | undefined
    }>()
    expectTypeOf<PayloadOf<Jobs, 'invoice'>>().toEqualTypeOf<{ customer: string; at: Date; lines: number }>()
    expectTypeOf<ResultInputOf<Jobs, 'invoice'>>().toEqualTypeOf<{ total: string }>()
    expectTypeOf<ResultOf<Jobs, 'invoice'>>().toEqualTypeOf<{ total: number }>()
    expectTypeOf<PayloadOf<Jobs, 'mail'>>().toEqualTypeOf<Mail>()
    expectTypeOf<ResultOf<Jobs, 'count'>>().toEqualTypeOf<{ counted: number }>()
    expectTypeOf(unstuck<Jobs>).returns.toEqualTypeOf<Unstuck<Jobs>>()
  })

  it('WORK-8 are enqueued only under their names and with their payloads', () => {
    compiles(async (q) => {
      expectTypeOf(await q.enqueue({ type: 'mail', payload: { to: 'a@b.c' } })).toEqualTypeOf<EnqueuedJob>()
      void q.enqueue({ type: 'invoice', payload: { customer: 'c', at: '2030-01-31' }, priority: 1 })
      void q.enqueue({ type: 'tick', delayMs: undefined })
      void q.enqueueMany([{ type: 'tick' }, { type: 'count', payload: { upTo: 3 } }])
      // @ts-expect-error: a typo in the type
      void q.enqueue({ type: 'mial', payload: { to: 'a@b.c' } })
      // @ts-expect-error: a typo in the payload
      void q.enqueue({ type: 'mail', payload: { too: 'a@b.c' } })
      // @ts-expect-error: the payload of another type
      void q.enqueue({ type: 'count', payload: { to: 'a@b.c' } })
      // @ts-expect-error: no payload
      void q.enqueue({ type: 'mail' })
      // @ts-expect-error: a typo in a field
      void q.enqueue({ type: 'tick', prioritty: 1 })
      // @ts-expect-error: one wrong job of a batch
      void q.enqueueMany([{ type: 'tick' }, { type: 'count', payload: { upTo: '3' } }])
    })
  })

  it('WORK-8 are handled with their payloads and results', () => {
    compiles((q) => {
      q.handle('mail', (mail) => {
        expectTypeOf(mail.payload).toEqualTypeOf<Mail>()
        expectTypeOf(mail.type).toEqualTypeOf<'mail'>()
      })
      q.handle('invoice', async ({ payload }, { tx }) => {
        expectTypeOf(payload.at).toEqualTypeOf<Date>()
        // @ts-expect-error: the result of a transaction is that of the job
        await tx(async () => ({ total: 7 }))
        return tx(async () => ({ total: '7' }))
      })
      q.handle('count', ({ payload }) => ({ counted: payload.upTo }), { queue: 'q' }).handle('tick', () => 7)
      q.handle('mail', { file: './mail.js' })
      const handler: HandlerOf<Jobs, 'count'> = ({ payload }) => ({ counted: payload.upTo })
      q.handle('count', handler)
      // @ts-expect-error: a typo in the type
      q.handle('mial', () => {})
      // @ts-expect-error: another result
      q.handle('count', () => ({ count: 1 }))
    })
  })

  it('WORK-12 are handled in batches with their payloads and results', () => {
    compiles((q, open) => {
      q.handleMany(
        'invoice',
        async (invoices, { signal }) => {
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
          for (const { payload, type, complete, context } of invoices) {
            expectTypeOf(payload.at).toEqualTypeOf<Date>()
            expectTypeOf(type).toEqualTypeOf<'invoice'>()
            complete({ total: '7' })
            await context.tx(async () => ({ total: '7' }))
            // @ts-expect-error: another result
            complete({ total: 7 })
            // @ts-expect-error: a result is declared
            complete()
            // It would end the whole batch.
            expectTypeOf(context).not.toHaveProperty('release')
          }
        },
        { size: 10, waitMs: 50, queue: 'q' },
      ).handleMany('tick', ([tick]) => tick?.complete(), { size: 2 })
      const handler: BatchHandlerOf<Jobs, 'count'> = ([count]) => count?.complete({ counted: 1 })
      q.handleMany('count', handler, { size: 2 })
      open.handleMany<{ to: string }>('mail', ([mail]) => mail?.complete(mail.payload.to), { size: 2 })
      // @ts-expect-error: a typo in the type
      q.handleMany('mial', () => {}, { size: 2 })
      // @ts-expect-error: no size
      q.handleMany('mail', () => {}, { waitMs: 5 })
      // @ts-expect-error: outcomes are not returned
      q.handleMany('mail', async () => ['sent'], { size: 2 })
      // @ts-expect-error: a module runs one job
      q.handleMany('mail', { file: './mail.js' }, { size: 2 })
    })
  })

  it('WORK-8 recur with their payloads', () => {
    compiles((q) => {
      q.recurring('nightly', '0 3 * * *', { type: 'count', payload: { upTo: 3 } }, { timezone: undefined })
      // @ts-expect-error: another payload
      q.recurring('nightly', '0 3 * * *', { type: 'count', payload: {} })
      // @ts-expect-error: the schedule decides the time
      q.recurring('nightly', '0 3 * * *', { type: 'tick', delayMs: 5 })
    })
  })

  it('WORK-8 run once with the payload that is enqueued, and return what the schema makes of the result', () => {
    compiles(async (q) => {
      expectTypeOf(await q.runOnce('invoice', { customer: 'c', at: '2030-01-31' })).toEqualTypeOf<{
        total: number
      }>()
      await q.runOnce('tick')
      // @ts-expect-error: no payload
      await q.runOnce('count')
    })
  })

  it('WORK-8 are known to events', () => {
    compiles((q) => {
      q.on('job:ended', (ended) => {
        expectTypeOf(ended.job.type).toEqualTypeOf<'mail' | 'invoice' | 'count' | 'tick'>()
        if (ended.job.type === 'mail') expectTypeOf(ended.job.payload).toEqualTypeOf<Mail>()
        expectTypeOf(ended.retryInMs).toEqualTypeOf<number | null | undefined>()
      })
      q.on('jobs:enqueued', ({ type }) => expectTypeOf(type).toEqualTypeOf<keyof Jobs>())
      q.on('claim:failed', ({ error }) => expectTypeOf(error).toBeUnknown())
    })
  })
})

describe('without declarations', () => {
  it('WORK-8 any type is taken, and handle<Payload, Result> gives types', () => {
    compiles((_q, open) => {
      expectTypeOf(unstuck()).toEqualTypeOf<Unstuck>()
      void open.enqueue({ type: 'anything', payload: { n: 1 } })
      open.handle('asr', async ({ payload }) => expectTypeOf(payload).toEqualTypeOf<JsonValue>())
      open.handle<Mail, { sent: boolean }>('mail', ({ payload }) => ({ sent: payload.to !== '' }))
      open.handle<Mail>('mail', ({ payload }) => payload.copies)
      open.handle('mail', (mail: ClaimedJob<Mail>) => mail.payload.to)
      // @ts-expect-error: another result
      open.handle<Mail, { sent: boolean }>('mail', () => ({ send: true }))
    })
  })

  it('WORK-8 interfaces are payloads and results, handlers may be synchronous, and undefined means absent', () => {
    compiles((_q, open) => {
      const mail: Mail = { to: 'a@b.c' }
      void open.enqueue(
        { type: 'mail', payload: mail, delayMs: undefined, owner: undefined },
        { tx: undefined },
      )
      void open.store.enqueueJobs([{ type: 'mail', payload: mail }])
      open.handle('mail', () => {}, { queue: undefined, progressLimitMs: undefined })
      open.handle('mail', (_mail, { tx, release }) => {
        if (mail.to === '') release({ afterMs: undefined })
        return tx(async () => mail)
      })
      const options: UnstuckOptions = { databaseUrl: process.env['DATABASE_URL'], logger: undefined }
      return unstuck(options)
    })
  })

  it('WORK-9 WORK-8 waits resolve with the result of the job', () => {
    compiles(async (q, open) => {
      expectTypeOf(await q.enqueueAndWait({ type: 'count', payload: { upTo: 3 } })).toEqualTypeOf<{
        counted: number
      }>()
      expectTypeOf(await q.waitFor('id', { type: 'count' })).toEqualTypeOf<{ counted: number }>()
      expectTypeOf(await q.waitFor('id')).toEqualTypeOf<ResultOf<Jobs, keyof Jobs>>()
      // @ts-expect-error nobody checks that the job has this type
      await q.waitFor<'count'>('id')
      // @ts-expect-error a type that is not declared
      await q.waitFor('id', { type: 'coutn' })
      // @ts-expect-error a payload of another job
      await q.enqueueAndWait({ type: 'count', payload: { to: 'x' } })
      // @ts-expect-error a type that is not declared
      await q.enqueueAndWait({ type: 'coutn' })
      expectTypeOf(await open.enqueueAndWait({ type: 'any' })).toEqualTypeOf<JsonValue>()
      expectTypeOf(await open.waitFor<{ url: string }>('id')).toEqualTypeOf<{ url: string }>()
    })
  })
})
