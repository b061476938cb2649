// Which jobs an operation changes, and what is listed of it.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { DAY, enqueueOne, HOUR, invalidArgument, plainPolicy, readJob, storeNow, TYPE } from '../builders.ts'
import type { TestBench } from '../harness.ts'
import { begin, killMany, retryDead } from './operation-builders.ts'

export function describeOperationSelection(opened: () => TestBench): void {
  describeFreeze(opened)
  describeLists(opened)
}

function describeFreeze(opened: () => TestBench): void {
  it('OPS-9 jobs are selected once, oldest first, without changing any', async () => {
    const { store } = opened()
    const ids = await killMany(store, 3)
    const begun = await begin(store)
    await killMany(store, 1)
    expect(begun.operation).toMatchObject({ state: 'running', total: 3, changed: 0, queues: [TYPE] })
    const { jobs, next } = await store.listOperationJobs(begun.operationId)
    expect(jobs).toEqual(
      ids.map((jobId, index) => ({ jobId, position: index + 1, outcome: null, status: 'dead' })),
    )
    expect(next).toBeNull()
    expect(await readJob(store, ids[0] ?? '')).toMatchObject({ status: 'dead', generation: 1 })
  })

  it('OPS-9 a plan only counts', async () => {
    const { store } = opened()
    await killMany(store, 2)
    expect(await store.beginOperation({ ...retryDead, isPlan: true })).toMatchObject({
      outcome: 'planned',
      total: 2,
    })
    expect((await store.listOperations()).operations).toEqual([])
  })

  it('OPS-16 a plan reads as many jobs as its limit allows, the newest, and says that more may match', async () => {
    const { store } = opened()
    await killMany(store, 4)
    const plan = (fields: object) => store.beginOperation({ ...retryDead, isPlan: true, ...fields })
    expect(await plan({ countLimit: 4 })).toMatchObject({ outcome: 'planned', total: 4, atLeast: [] })
    const cut = { outcome: 'planned', total: 3, atLeast: ['total'] }
    expect(await plan({ countLimit: 3 })).toMatchObject(cut)
    // A lower bound contradicts a smaller number only, and a reached limit is exact.
    expect(await plan({ countLimit: 3, expect: 9 })).toMatchObject(cut)
    expect(await plan({ countLimit: 3, expect: 2 })).toEqual({ outcome: 'unexpected', total: 3 })
    expect(await plan({ countLimit: 3, limit: 2 })).toMatchObject({ total: 2, atLeast: [] })
    expect(await plan({ countLimit: 3, limit: 4 })).toMatchObject(cut)
    const absent = { filter: { status: 'dead', type: 'absent' } }
    expect(await plan({ countLimit: 3, ...absent })).toMatchObject({ total: 0, atLeast: ['total'] })
    // The operation itself reads all of them.
    expect((await begin(store, { countLimit: 3 })).operation.total).toBe(4)
  })

  it('OPS-9 an unexpected count begins nothing', async () => {
    const { store } = opened()
    await killMany(store, 2)
    const begun = await store.beginOperation({ ...retryDead, expect: 3 })
    expect(begun).toEqual({ outcome: 'unexpected', total: 2 })
    expect((await store.listOperations()).operations).toEqual([])
    expect((await begin(store, { expect: 2 })).operation.total).toBe(2)
  })

  it('OPS-9 the limit keeps the oldest', async () => {
    const { store } = opened()
    const ids = await killMany(store, 3)
    const { operationId } = await begin(store, { limit: 2 })
    const { jobs } = await store.listOperationJobs(operationId)
    expect(jobs.map(({ jobId }) => jobId)).toEqual(ids.slice(0, 2))
  })

  it('OPS-9 jobs that died after the selection time are skipped', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const [early] = await killMany(store, 1)
    await bench.elapse(HOUR)
    await killMany(store, 1)
    const asOf = new Date((await storeNow(store)) - HOUR / 2)
    const { operationId } = await begin(store, { asOf })
    expect((await store.listOperationJobs(operationId)).jobs).toMatchObject([{ jobId: early }])
  })

  it('C21 an owner sees only its own jobs', async () => {
    const { store } = opened()
    const owned = await enqueueOne(store, { owner: 'ana' })
    await enqueueOne(store, { owner: 'bob' })
    const cancel = { action: 'cancel', filter: { type: TYPE }, q: `type:${TYPE}`, owner: 'ana' } as const
    const begun = await begin(store, cancel)
    expect((await store.listOperationJobs(begun.operationId)).jobs).toMatchObject([{ jobId: owned }])
    expect((await begin(store, { ...cancel, filter: { owner: 'bob' } })).operation.total).toBe(0)
  })

  it('OPS-9 an invalid request is refused', async () => {
    const { store } = opened()
    const wrong: object[] = [
      { action: 'explode' },
      { q: '' },
      { filter: { shape: 'round' } },
      { limit: 0 },
      { limit: 100_001 },
      { canary: -1 },
      { ratePerS: 0 },
      { expect: 1.5 },
      { leaseMs: 0 },
      { countLimit: 0 },
      { countLimit: 1_000_001 },
      { reason: 'r'.repeat(501) },
    ]
    for (const fields of wrong)
      await expect(store.beginOperation({ ...retryDead, ...fields })).rejects.toMatchObject(invalidArgument)
  })
}

function describeLists(opened: () => TestBench): void {
  it('OPS-9 operations are listed page by page, the newest first', async () => {
    const { store } = opened()
    const ids: string[] = []
    for (const q of ['a:1', 'a:2', 'a:3']) ids.push((await begin(store, { q })).operationId)
    const first = await store.listOperations({ limit: 2 })
    expect(first.operations.map(({ q }) => q)).toEqual(['a:3', 'a:2'])
    const second = await store.listOperations({ limit: 2, cursor: first.next ?? '' })
    expect(second.operations.map(({ id }) => id)).toEqual([ids[0]])
    expect(second.next).toBeNull()
    await expect(store.listOperations({ cursor: 'x' })).rejects.toMatchObject(invalidArgument)
  })

  it('OPS-9 outcomes are listed page by page, in processing order', async () => {
    const { store } = opened()
    const ids = await killMany(store, 3)
    const { operationId } = await begin(store)
    const first = await store.listOperationJobs(operationId, { limit: 2 })
    expect(first.next).toBe(2)
    const second = await store.listOperationJobs(operationId, { limit: 2, cursor: first.next ?? 0 })
    expect([...first.jobs, ...second.jobs].map(({ jobId }) => jobId)).toEqual(ids)
  })

  it('OPS-9 an unknown id is not found', async () => {
    const { store } = opened()
    for (const id of [randomUUID(), 'x', '']) {
      expect(await store.readOperation(id)).toBeNull()
      expect((await store.abortOperation(id)).outcome).toBe('not-found')
      expect(await store.listOperationJobs(id)).toEqual({ jobs: [], next: null })
    }
  })

  it('OPS-2 an operation is deleted a week after its end, and not before', async () => {
    const bench = opened()
    const { store } = bench
    const ended = await begin(store)
    await store.endOperation(ended, { state: 'done' })
    const running = await begin(store)
    await bench.elapse(6 * DAY)
    await store.pruneJobs()
    expect((await store.listOperations()).operations).toHaveLength(2)
    await bench.elapse(2 * DAY)
    await store.pruneJobs()
    expect((await store.listOperations()).operations.map(({ id }) => id)).toEqual([running.operationId])
  })
}
