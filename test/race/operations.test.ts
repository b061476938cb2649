// Steps of an operation against its abort, against another runner, and against whoever holds one of its jobs.
import { describe, expect, it } from 'vitest'
import { readJob, startDead } from '../../src/store/conformance/builders.ts'
import type { JobStore, NewOperation, OperationLease } from '../../src/store/job-store.ts'
import { raceBench } from './race-bench.ts'

const opened = raceBench()

async function begin(store: JobStore, fields: Partial<NewOperation> = {}): Promise<OperationLease> {
  const wish: NewOperation = {
    action: 'retry',
    filter: { status: 'dead' },
    q: 'status:dead',
    leaseMs: 60_000,
  }
  const begun = await store.beginOperation({ ...wish, ...fields })
  if (begun.outcome !== 'begun' || begun.leaseId === null) throw new Error(begun.outcome)
  return { operationId: begun.operation.id, leaseId: begun.leaseId }
}

const outcomesOf = async (store: JobStore, { operationId }: OperationLease) =>
  (await store.listOperationJobs(operationId)).jobs.map(({ outcome }) => outcome)

describe('a step of an operation', () => {
  it('OPS-9 whose process dies in it leaves no change, no outcome and no count', async () => {
    const { store, connect } = opened()
    const jobId = await startDead(store)
    const lease = await begin(store)
    const runner = await connect()
    await runner.begin()
    expect(await runner.store.stepOperation(lease, { limit: 1 })).toMatchObject({ operation: { changed: 1 } })
    await runner.rollback()
    expect(await readJob(store, jobId)).toMatchObject({ status: 'dead', generation: 1 })
    expect(await outcomesOf(store, lease)).toEqual([null])
    expect(await store.readOperation(lease.operationId)).toMatchObject({ changed: 0, state: 'running' })
  })

  it('OPS-9 ends before an abort does, and the next is refused', async () => {
    const { store, connect, startBlocked } = opened()
    const [runner, person] = [await connect(), await connect()]
    await startDead(store)
    await startDead(store)
    const lease = await begin(store)
    await runner.begin()
    await runner.store.stepOperation(lease, { limit: 1 })
    const abort = await startBlocked(person, runner, () => person.store.abortOperation(lease.operationId))
    await runner.commit()
    expect(await abort.answer).toMatchObject({ outcome: 'stopped', operation: { changed: 1, total: 2 } })
    expect(await runner.store.stepOperation(lease, { limit: 1 })).toBe('lease-lost')
    expect(await outcomesOf(store, lease)).toEqual(['retried', null])
  })

  it('OPS-9 waits for whoever changes one of its jobs, and finds it as that left it', async () => {
    const { store, connect, startBlocked } = opened()
    const [runner, person] = [await connect(), await connect()]
    const jobId = await startDead(store)
    const lease = await begin(store)
    await person.begin()
    await person.store.retryJobs([jobId])
    const step = await startBlocked(runner, person, () => runner.store.stepOperation(lease, { limit: 1 }))
    await person.commit()
    expect(await step.answer).toMatchObject({ operation: { changed: 0, refused: 1 } })
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
  })

  it('OPS-9 one that nobody runs is taken once, however many look for it', async () => {
    const { store, connectMany } = opened()
    const runners = await connectMany(6)
    await store.beginOperation({ action: 'retry', filter: { status: 'dead' }, q: 'status:dead' })
    const taken = await Promise.all(runners.map((runner) => runner.store.takeOperation()))
    expect(taken.filter((held) => held !== null)).toHaveLength(1)
  })
})
