import { describe, expect, it } from 'vitest'
import type { JobStore, NewWebhook, TakenDelivery, WorkerReport } from '../job-store.ts'
import {
  complete,
  crashOnce,
  DAY,
  enqueueOne,
  expectAbout,
  fail,
  HOUR,
  invalidArgument,
  MINUTE,
  MISSING_ID,
  plainPolicy,
  SECOND,
  startOne,
} from './builders.ts'
import { type StoreHarness, type TestBench, transactionsOf } from './harness.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const webhook: NewWebhook = { url: 'https://hooks.example.com/unstuck', secret, events: ['failed'] }

async function takeOne(store: JobStore, leaseMs = MINUTE): Promise<TakenDelivery> {
  const [taken, ...others] = await store.takeDeliveries({ leaseMs })
  if (taken === undefined || others.length > 0) throw new Error('not one delivery is due')
  return taken
}

/** One event, hence one delivery for each webhook. */
async function failOne(store: JobStore): Promise<string> {
  const job = await startOne(store)
  await fail(store, job, { code: 'GW_5XX', reason: 'no answer', isRetryable: false, stack: 'at secret.ts' })
  return job.jobId
}

const failed = { isDelivered: false, status: 500, error: 'answered 500' }

export function describeWebhooks<Tx>(opened: () => StoreHarness<Tx>): void {
  const bench: () => TestBench = opened
  describe('webhooks', () => {
    describeRegister(bench)
    describeOutbox(opened)
    describeTaking(bench)
    describeTries(bench)
    describeDeliveries(bench)
  })
}

function describeRegister(opened: () => TestBench): void {
  it('OPS-10 the report of a worker says whether there are webhooks to send to', async () => {
    const { store } = opened()
    const report: WorkerReport = {
      workerId: 'w',
      phase: 'running',
      types: [],
      concurrency: 1,
      running: 0,
      reportMs: 1,
    }
    expect(await store.reportWorker(report)).toMatchObject({ hasWebhooks: false })
    const { webhookId } = await store.addWebhook({ url: 'https://example.com/hook', secret, events: [] })
    expect(await store.reportWorker(report)).toMatchObject({ hasWebhooks: true })
    await store.removeWebhook(webhookId)
    expect(await store.reportWorker(report)).toMatchObject({ hasWebhooks: false })
  })

  it('OPS-10 a webhook is listed with its events and without its secret', async () => {
    const { store } = opened()
    const added = await store.addWebhook({ ...webhook, events: ['failed'], actor: 'ana' })
    expect(added).toMatchObject({ url: webhook.url, events: ['failed'], isActive: true, createdBy: 'ana' })
    const other = await store.addWebhook(webhook)
    expect(await store.listWebhooks()).toEqual([added, other])
    expect(JSON.stringify(await store.listWebhooks())).not.toContain(secret)
  })

  it('OPS-10 a removed webhook gets nothing more, not even pending deliveries', async () => {
    const { store } = opened()
    const { webhookId } = await store.addWebhook(webhook)
    await failOne(store)
    expect(await store.removeWebhook(webhookId)).toBe(true)
    expect(await store.removeWebhook(webhookId)).toBe(false)
    expect(await store.takeDeliveries()).toEqual([])
    expect(await store.listWebhooks()).toEqual([])
  })

  it('OPS-8 a bad address, a bad secret and bad events are refused, and the secret is not shown', async () => {
    const { store } = opened()
    const bad: Partial<NewWebhook>[] = [
      { url: 'ftp://example.com' },
      { url: 'https://ana:password@example.com/' },
      { url: '' },
      { secret: 'whsec_short' },
      { secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      { events: [''] },
    ]
    for (const fields of bad) {
      const refused = store.addWebhook({ ...webhook, ...fields })
      await expect(refused).rejects.toMatchObject(invalidArgument)
      await expect(refused).rejects.not.toThrow(/short|MfKQ9/)
    }
    expect(await store.listWebhooks()).toEqual([])
  })
}

function describeOutbox<Tx>(opened: () => StoreHarness<Tx>): void {
  it('OPS-10 an event is sent once to every webhook subscribed to it, and to no other', async () => {
    const { store } = opened()
    await store.writePolicy({ events: 'recovery' })
    const all = await store.addWebhook({ url: webhook.url, secret })
    const some = await store.addWebhook({ ...webhook, events: ['failed', 'cancelled'] })
    await store.addWebhook({ ...webhook, events: ['reaper:requeued'] })
    const jobId = await failOne(store)
    const taken = await store.takeDeliveries()
    expect(taken.map(({ webhookId }) => webhookId).toSorted()).toEqual(
      [all.webhookId, some.webhookId].toSorted(),
    )
    for (const { url, event, tries, ...one } of taken) {
      expect([url, one.secret, tries]).toEqual([webhook.url, secret, 1])
      expect(event).toMatchObject({ type: 'failed', data: { job_id: jobId, details: { code: 'GW_5XX' } } })
      expect(Object.keys(event).toSorted()).toEqual(['data', 'timestamp', 'type'])
      expect(event.timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
    }
  })

  it('OPS-10 a sweep sends an event for each reaped job', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    await store.addWebhook({ ...webhook, events: ['reaper:requeued'] })
    const job = await startOne(store)
    await crashOnce(bench, job)
    expect((await takeOne(store)).event).toMatchObject({
      type: 'reaper:requeued',
      data: { job_id: job.jobId, details: { reason: 'lease_expired', locked_by: 'worker-1' } },
    })
  })

  it('OPS-10 neither payload, result nor stack is sent', async () => {
    const { store } = opened()
    await store.writePolicy({ events: 'all' })
    await store.addWebhook({ ...webhook, events: [] })
    const job = await startOne(store, { payload: { card: 'private-1' } })
    await store.recordLateResult(job, { result: { card: 'private-2' }, attempt: 1 })
    await complete(store, job)
    await failOne(store)
    const sent = (await store.takeDeliveries({ limit: 100 })).map(({ event }) => event)
    expect(sent.map(({ type }) => type)).toContain('late_result')
    expect(JSON.stringify(sent)).not.toMatch(/private|secret\.ts/)
  })

  it('C22 rolled back events are never sent', async ({ skip }) => {
    const { store } = opened()
    const inTransaction = transactionsOf(opened(), skip)
    await store.addWebhook({ ...webhook, events: ['cancelled'] })
    const jobId = await enqueueOne(store)
    const rolledBack = inTransaction(async (tx) => {
      await opened().store.cancelJobs([jobId], { tx })
      throw new Error('something else went wrong')
    })
    await expect(rolledBack).rejects.toThrow('something else')
    expect(await store.listDeliveries()).toEqual([])
    await inTransaction((tx) => opened().store.cancelJobs([jobId], { tx }))
    expect((await takeOne(store)).event.data.job_id).toBe(jobId)
  })
}

function describeTaking(opened: () => TestBench): void {
  it('OPS-10 a taken delivery is not given out again until its lease expires', async () => {
    const { store, elapse } = opened()
    await store.addWebhook(webhook)
    await failOne(store)
    const first = await takeOne(store)
    expect(await store.takeDeliveries()).toEqual([])
    await elapse(MINUTE + SECOND)
    const second = await takeOne(store)
    expect(second).toEqual({ ...first, tries: 2 })
    expect(await store.recordDelivery(first, { isDelivered: true, status: 200 })).toBe('lost')
    expect(await store.recordDelivery(second, { isDelivered: true, status: 200 })).toBe('delivered')
    expect(await store.recordDelivery(second, { isDelivered: true, status: 200 })).toBe('lost')
  })

  it('OPS-10 takes no more than the limit, the oldest first', async () => {
    const { store, elapse } = opened()
    await store.addWebhook(webhook)
    const ids: string[] = []
    for (const _ of [1, 2, 3]) {
      ids.push(await failOne(store))
      await elapse(SECOND)
    }
    const first = await store.takeDeliveries({ limit: 2 })
    const second = await store.takeDeliveries({ limit: 2 })
    expect([first, second].map((taken) => taken.map(({ event }) => event.data.job_id))).toEqual([
      ids.slice(0, 2),
      ids.slice(2),
    ])
  })

  it('OPS-8 a bad limit and a bad lease are refused', async () => {
    const { store } = opened()
    for (const request of [{ limit: 0 }, { limit: 1_001 }, { leaseMs: 0 }])
      await expect(store.takeDeliveries(request)).rejects.toMatchObject(invalidArgument)
  })
}

function describeTries(opened: () => TestBench): void {
  it('OPS-10 a failed delivery is retried with growing delays, and given up after ten tries', async () => {
    const { store, elapse } = opened()
    await store.addWebhook(webhook)
    await failOne(store)
    const waits: (number | null)[] = []
    let outcome = ''
    for (let tries = 1; tries <= 10; tries++) {
      const taken = await takeOne(store)
      expect(taken.tries).toBe(tries)
      outcome = await store.recordDelivery(taken, failed)
      const [delivery] = await store.listDeliveries()
      waits.push(delivery?.nextTryInMs ?? null)
      await elapse((delivery?.nextTryInMs ?? 0) + SECOND)
    }
    expect(outcome).toBe('failed')
    const expected = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200].map(
      (seconds) => seconds * SECOND,
    )
    for (const [index, wait] of expected.entries()) expectAbout(waits[index], wait)
    expect(waits.at(-1)).toBeNull()
    await elapse(DAY)
    expect(await store.takeDeliveries()).toEqual([])
    expect(await store.listDeliveries()).toMatchObject([
      { status: 'failed', tries: 10, lastStatus: 500, lastError: 'answered 500' },
    ])
  })

  it('OPS-10 a receiver that is gone for good gets nothing more', async () => {
    const { store } = opened()
    await store.addWebhook(webhook)
    await failOne(store)
    await failOne(store)
    const [first, second] = await store.takeDeliveries()
    if (first === undefined || second === undefined) throw new Error('two deliveries were to be due')
    const gone = { isDelivered: false, status: 410, error: 'answered 410', isGone: true }
    expect(await store.recordDelivery(first, gone)).toBe('failed')
    expect(await store.listWebhooks()).toMatchObject([{ isActive: false, inactiveReason: 'answered 410' }])
    expect(await store.recordDelivery(second, failed)).toBe('retried')
    await failOne(store)
    expect(await store.listDeliveries()).toHaveLength(2)
    expect(await store.redeliver(first.deliveryId)).toBe('inactive')
  })

  it('OPS-10 a webhook disabled by an operator or its receiver can be enabled again', async () => {
    const { store } = opened()
    const { webhookId } = await store.addWebhook(webhook)
    await failOne(store)
    await store.recordDelivery(await takeOne(store), { ...failed, status: 410, isGone: true })
    const on = await store.switchWebhook(webhookId, true, { actor: 'ana' })
    expect(on).toMatchObject({ webhookId, isActive: true, inactiveReason: null })
    await failOne(store)
    expect(await takeOne(store)).toMatchObject({ webhookId })
    const off = await store.switchWebhook(webhookId, false, { reason: 'too much' })
    expect(off).toMatchObject({ isActive: false, inactiveReason: 'too much' })
    await failOne(store)
    expect(await store.takeDeliveries()).toEqual([])
    expect(await store.switchWebhook(MISSING_ID, true)).toBeNull()
  })

  it('OPS-10 pending deliveries to a receiver that is gone fail at their next try', async () => {
    const { store, elapse } = opened()
    await store.addWebhook(webhook)
    await failOne(store)
    await failOne(store)
    const [first] = await store.takeDeliveries({ limit: 1 })
    if (first === undefined) throw new Error('a delivery was to be due')
    await store.recordDelivery(first, { isDelivered: false, status: 410, isGone: true })
    await elapse(HOUR)
    expect(await store.takeDeliveries()).toEqual([])
    expect((await store.listDeliveries()).map(({ status }) => status)).toEqual(['failed', 'failed'])
  })
}

function describeDeliveries(opened: () => TestBench): void {
  it('OPS-10 deliveries are listed, the newest first, by webhook and by status', async () => {
    const { store, elapse } = opened()
    const { webhookId } = await store.addWebhook(webhook)
    const older = await failOne(store)
    await elapse(SECOND)
    const newer = await failOne(store)
    const [first] = await store.takeDeliveries({ limit: 1 })
    if (first === undefined) throw new Error('a delivery was to be due')
    await store.recordDelivery(first, { isDelivered: true, status: 204 })
    const listed = await store.listDeliveries({ webhookId })
    expect(listed.map(({ jobId, status }) => [jobId, status])).toEqual([
      [newer, 'waiting'],
      [older, 'delivered'],
    ])
    expect(listed[1]).toMatchObject({ type: 'failed', tries: 1, lastStatus: 204, nextTryInMs: null })
    expect(listed[1]?.deliveredAt).toBeInstanceOf(Date)
    expect(await store.listDeliveries({ status: 'delivered', limit: 1 })).toHaveLength(1)
    expect(await store.listDeliveries({ webhookId: MISSING_ID })).toEqual([])
    expect(await store.listWebhooks()).toMatchObject([{ waiting: 1 }])
    await expect(store.listDeliveries({ limit: 0 })).rejects.toMatchObject(invalidArgument)
  })

  it('OPS-10 a delivered or failed delivery is sent again under the same id', async () => {
    const { store } = opened()
    await store.addWebhook(webhook)
    await failOne(store)
    const taken = await takeOne(store)
    await store.recordDelivery(taken, { isDelivered: true, status: 200 })
    expect(await store.redeliver(taken.deliveryId)).toBe('due')
    expect(await takeOne(store)).toEqual(taken)
    expect(await store.redeliver(MISSING_ID)).toBe('not-found')
  })

  it('OPS-2 deliveries past the retention are deleted', async () => {
    const { store, elapse } = opened()
    await store.addWebhook(webhook)
    await failOne(store)
    await elapse(10 * DAY)
    await failOne(store)
    await elapse(5 * DAY)
    await store.pruneJobs({ retentionDays: 14 })
    expect(await store.listDeliveries()).toHaveLength(1)
  })
}
