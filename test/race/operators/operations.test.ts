// Steps of an operation against its abort, against another runner, and against whoever holds one of its jobs.
import { describe, expect, it } from 'vitest'
import { runOperation } from '../../../src/runtime/operations/run-operation.ts'
import { readJob, startDead } from '../../../src/store/conformance/builders.ts'
import type { JobStore, NewOperation, Operation, OperationLease } from '../../../src/store/job-store.ts'
import { raceBench } from '../race-bench.ts'

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

async function readOperation(store: JobStore, { operationId }: OperationLease): Promise<Operation> {
  const operation = await store.readOperation(operationId)
  if (operation === null) throw new Error(`no operation ${operationId}`)
  return operation
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

  it.each(['retry', 'discard'] as const)(
    'OPS-9 of a %s leaves a job that somebody holds to a later step, and waits for nobody',
    async (action) => {
      const { store, connect } = opened()
      const [runner, person] = [await connect(), await connect()]
      const jobId = await startDead(store)
      const free = await startDead(store)
      const lease = await begin(store, { action })
      await person.begin()
      await person.store.retryJobs([jobId])
      expect(await runner.store.stepOperation(lease, { limit: 2 })).toMatchObject({
        operation: { changed: 1, refused: 0 },
      })
      expect((await store.getJob(free))?.status).toBe(action === 'retry' ? 'waiting' : undefined)
      expect(await runner.store.stepOperation(lease, { limit: 2 })).toMatchObject({
        operation: { changed: 1, refused: 0 },
      })
      await person.commit()
      expect(await runner.store.stepOperation(lease, { limit: 2 })).toMatchObject({
        operation: { changed: 1, refused: 1 },
      })
      expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
    },
  )

  it('OPS-9 that meets a held job does not hold up an abort', async () => {
    const { store, connect } = opened()
    const [runner, person] = [await connect(), await connect()]
    const jobId = await startDead(store)
    const lease = await begin(store)
    await person.begin()
    await person.store.retryJobs([jobId])
    const run = runOperation(runner.store, {
      operation: await readOperation(store, lease),
      leaseId: lease.leaseId,
    })
    expect(await store.abortOperation(lease.operationId)).toMatchObject({ outcome: 'stopped' })
    expect(await run).toMatchObject({ state: 'stopped', changed: 0, refused: 0 })
    await person.rollback()
  })

  it('OPS-9 one that nobody runs is taken once, however many look for it', async () => {
    const { store, connectMany } = opened()
    const runners = await connectMany(6)
    await store.beginOperation({ action: 'retry', filter: { status: 'dead' }, q: 'status:dead' })
    const taken = await Promise.all(runners.map((runner) => runner.store.takeOperation()))
    expect(taken.filter((held) => held !== null)).toHaveLength(1)
  })
})
