// How an operation changes its jobs: by steps, under a lease.
import { expect, it } from 'vitest'
import {
  claimOne,
  complete,
  DAY,
  enqueueMany,
  enqueueOne,
  fail,
  HOUR,
  invalidArgument,
  MINUTE,
  readJob,
  startOne,
  storeNow,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'
import { begin, killMany, outcomesOf, retryDead, step } from './operation-builders.ts'

export function describeOperationRuns(
  opened: () => TestBench,
  { isTeams = false }: ConformanceOptions,
): void {
  describeActions(opened)
  describeSourceGone(opened)
  describeSteps(opened)
  describeLeases(opened)
  describeWatch(opened, isTeams)
}

function describeActions(opened: () => TestBench): void {
  it('OPS-9 a retry requeues dead jobs, with who and why in their events', async () => {
    const { store } = opened()
    const [jobId = ''] = await killMany(store, 1)
    const lease = await begin(store, { actor: 'ana', reason: 'fixed' })
    const { operation } = await step(store, lease)
    expect(operation).toMatchObject({ changed: 1, refused: 0, state: 'running' })
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
    const last = (await store.listEvents(jobId)).at(-1)
    expect(last?.data.details).toMatchObject({ cause: 'retry', actor: 'ana', reason: 'fixed' })
  })

  it('OPS-9 a cancellation covers waiting and running jobs, and skips ended ones', async () => {
    const { store } = opened()
    const running = await startOne(store)
    await complete(store, await startOne(store))
    const waiting = await enqueueOne(store)
    const lease = await begin(store, { action: 'cancel', filter: { type: TYPE }, q: `type:${TYPE}` })
    expect(lease.operation.total).toBe(2)
    await step(store, lease)
    expect(new Set(await outcomesOf(store, lease))).toEqual(new Set(['cancel-requested', 'cancelled']))
    expect(await readJob(store, waiting)).toMatchObject({ status: 'cancelled' })
    expect((await readJob(store, running.jobId)).cancelRequestedAt).not.toBeNull()
  })

  it('OPS-9 run-now makes scheduled jobs due, and refuses those already due', async () => {
    const bench = opened()
    const { store } = bench
    const runAt = new Date((await storeNow(store)) + HOUR)
    await store.enqueueJobs([{ type: TYPE, runAt }, { type: TYPE }])
    const lease = await begin(store, { action: 'run-now', filter: { type: TYPE }, q: `type:${TYPE}` })
    expect((await step(store, lease)).operation).toMatchObject({ total: 2, changed: 1, refused: 1 })
    expect(new Set(await outcomesOf(store, lease))).toEqual(new Set(['already-due', 'due']))
  })

  it('OPS-9 a deletion skips running jobs and those retried meanwhile', async () => {
    const bench = opened()
    const { store } = bench
    const [gone = '', kept = ''] = await killMany(store, 2)
    await startOne(store)
    await bench.elapse(MINUTE)
    const lease = await begin(store, { action: 'discard', filter: { type: TYPE }, q: `type:${TYPE}` })
    expect(lease.operation.total).toBe(2)
    await bench.elapse(1_000)
    await store.retryJobs([kept])
    await step(store, lease)
    expect(await outcomesOf(store, lease)).toEqual(['discarded', 'changed-since'])
    expect(await store.getJob(gone)).toBeNull()
    expect(await readJob(store, kept)).toMatchObject({ status: 'waiting' })
  })

  it('OPS-9 a job that was retried manually and died again is not retried again', async () => {
    const bench = opened()
    const { store } = bench
    const [jobId = ''] = await killMany(store, 1)
    const lease = await begin(store)
    await bench.elapse(1_000)
    await store.retryJobs([jobId])
    await fail(store, await claimOne(store), { isRetryable: false })
    await step(store, lease)
    expect(await outcomesOf(store, lease)).toEqual(['changed-since'])
    expect(await readJob(store, jobId)).toMatchObject({ status: 'dead', generation: 2 })
  })

  it('OPS-9 a job deleted before its turn is refused', async () => {
    const { store } = opened()
    const [jobId = ''] = await killMany(store, 1)
    const lease = await begin(store)
    await store.discardJobs([jobId])
    expect((await step(store, lease)).operation).toMatchObject({ changed: 0, refused: 1 })
    expect(await outcomesOf(store, lease)).toEqual(['not-found'])
  })
}

function describeSourceGone(opened: () => TestBench): void {
  it('OPS-1 a step refuses the jobs whose source is gone, and changes the others', async () => {
    const { store } = opened()
    const [first = '', second = ''] = await killMany(store, 2)
    const lease = await begin(store)
    const progress = await store.stepOperation(lease, { limit: 10, sourceGone: [first] })
    expect(progress).toMatchObject({ operation: { changed: 1, refused: 1 } })
    expect(await outcomesOf(store, lease)).toEqual(['source-gone', 'retried'])
    expect([(await store.getJob(first))?.status, (await store.getJob(second))?.status]).toEqual([
      'dead',
      'waiting',
    ])
  })
}

function describeSteps(opened: () => TestBench): void {
  it('OPS-9 steps continue where the last one ended, and no job is changed twice', async () => {
    const { store } = opened()
    const ids = await killMany(store, 3)
    const lease = await begin(store)
    expect((await step(store, lease, 2)).operation).toMatchObject({ changed: 2, total: 3 })
    expect(await outcomesOf(store, lease)).toEqual(['retried', 'retried', null])
    expect((await step(store, lease, 2)).operation).toMatchObject({ changed: 3 })
    expect((await step(store, lease, 2)).operation).toMatchObject({ changed: 3, refused: 0 })
    for (const id of ids) expect(await readJob(store, id)).toMatchObject({ generation: 2 })
  })

  it('OPS-9 the phase and its duration are kept', async () => {
    const bench = opened()
    const { store } = bench
    const lease = await begin(store)
    await store.stepOperation(lease, { limit: 0, phase: 'canary', leaseMs: DAY })
    await bench.elapse(MINUTE)
    const { operation } = await step(store, lease, 0)
    expect(operation.phase).toBe('canary')
    expect(operation.phaseMs).toBeGreaterThanOrEqual(MINUTE)
    await expect(store.stepOperation(lease, { limit: 1001 })).rejects.toMatchObject(invalidArgument)
  })

  it('OPS-9 an ended operation keeps its counts and the reason of an early end', async () => {
    const { store } = opened()
    await killMany(store, 2)
    const lease = await begin(store)
    await step(store, lease, 1)
    const ended = await store.endOperation(lease, { state: 'stopped', stopped: 'breaker-open' })
    expect(ended).toMatchObject({ state: 'stopped', stopped: 'breaker-open', changed: 1, total: 2 })
    expect(await store.readOperation(lease.operationId)).toEqual(ended)
    expect(await store.endOperation(lease, { state: 'done' })).toBe('lease-lost')
  })
}

function describeLeases(opened: () => TestBench): void {
  it('OPS-9 an idle operation is taken by one runner, and by another once its lease expires', async () => {
    const bench = opened()
    const { store } = bench
    await killMany(store, 2)
    await store.beginOperation(retryDead)
    const first = await store.takeOperation({ leaseMs: MINUTE })
    expect(first?.operation).toMatchObject({ total: 2, changed: 0 })
    expect(await store.takeOperation()).toBeNull()
    const stale = { operationId: first?.operation.id ?? '', leaseId: first?.leaseId ?? '' }
    await step(store, stale, 1)
    await bench.elapse(2 * MINUTE)
    const second = await store.takeOperation({ leaseMs: MINUTE })
    expect(second?.operation).toMatchObject({ id: stale.operationId, changed: 1 })

    expect(await store.stepOperation(stale, { limit: 1 })).toBe('lease-lost')
    expect(await store.endOperation(stale, { state: 'done' })).toBe('lease-lost')
    expect(await store.giveBackOperation(stale)).toBe(false)
    expect(await outcomesOf(store, stale)).toEqual(['retried', null])
    const current = { ...stale, leaseId: second?.leaseId ?? '' }
    expect((await step(store, current)).operation).toMatchObject({ changed: 2 })
  })

  it('OPS-9 each step renews the lease', async () => {
    const bench = opened()
    const { store } = bench
    const lease = await begin(store, { leaseMs: MINUTE })
    await store.stepOperation(lease, { limit: 0, leaseMs: HOUR })
    await bench.elapse(2 * MINUTE)
    expect(await store.takeOperation()).toBeNull()
  })

  it('OPS-9 an operation given back is taken at once', async () => {
    const { store } = opened()
    const lease = await begin(store)
    expect(await store.giveBackOperation(lease)).toBe(true)
    expect(await store.takeOperation()).toMatchObject({ operation: { id: lease.operationId } })
    expect(await store.stepOperation(lease, { limit: 0 })).toBe('lease-lost')
  })

  it('OPS-9 an abort ends it at once, and its runner cannot continue', async () => {
    const { store } = opened()
    await killMany(store, 2)
    const lease = await begin(store)
    await step(store, lease, 1)
    const { outcome, operation } = await store.abortOperation(lease.operationId)
    expect(outcome).toBe('stopped')
    expect(operation).toMatchObject({ state: 'stopped', stopped: 'interrupted', changed: 1, total: 2 })
    expect(await store.stepOperation(lease, { limit: 1 })).toBe('lease-lost')
    expect(await outcomesOf(store, lease)).toEqual(['retried', null])
    expect(await store.abortOperation(lease.operationId)).toMatchObject({ outcome: 'already-ended' })
    expect(await store.takeOperation()).toBeNull()
  })

  it('C21 an owner neither sees nor stops operations of another', async () => {
    const { store } = opened()
    const { operationId } = await begin(store, { owner: 'ana' })
    expect(await store.readOperation(operationId, { owner: 'bob' })).toBeNull()
    expect(await store.abortOperation(operationId, { owner: 'bob' })).toEqual({
      outcome: 'not-found',
      operation: null,
    })
    expect((await store.listOperations({ owner: 'bob' })).operations).toEqual([])
    expect(await store.readOperation(operationId, { owner: 'ana' })).toMatchObject({ state: 'running' })
  })
}

function describeWatch(opened: () => TestBench, isTeams: boolean): void {
  it('OPS-9 a redrive watches its first jobs: which succeed, and which fail again even before they are dead', async () => {
    const { store } = opened()
    await killMany(store, 4)
    const lease = await begin(store, { action: 'redrive' })
    expect(await step(store, lease, 3)).toMatchObject({ sample: 3, operation: { succeeded: 0, failed: 0 } })
    await complete(store, await claimOne(store))
    await fail(store, await claimOne(store), { code: 'B' })
    expect(await step(store, lease, 0)).toMatchObject({ sample: 3, operation: { succeeded: 1, failed: 1 } })
    await store.discardJobs([(await enqueueMany(store, 1))[0] ?? ''])
    expect((await step(store, lease, 1)).sample).toBe(4)
  })

  it.skipIf(isTeams)('OPS-9 LEASE-12 a watched job that its completion deleted has succeeded', async () => {
    const { store } = opened()
    await killMany(store, 2)
    const lease = await begin(store, { action: 'redrive' })
    await step(store, lease, 2)
    const policy = { keepCompleted: false }
    await store.completeJobs([await claimOne(store)], { policy })
    expect(await step(store, lease, 0)).toMatchObject({ sample: 2, operation: { succeeded: 1, failed: 0 } })
  })

  it('OPS-9 twenty jobs are watched, or as many as the canary has', async () => {
    const { store } = opened()
    await killMany(store, 23)
    const few = await begin(store, { action: 'redrive', limit: 22 })
    expect((await step(store, few)).sample).toBe(20)
    const { jobs } = await store.listJobs({ status: 'waiting' })
    for (const _ of jobs) await fail(store, await claimOne(store), { isRetryable: false })
    const many = await begin(store, { action: 'redrive', canary: 22 })
    expect(await step(store, many)).toMatchObject({ sample: 22, operation: { total: 23 } })
  })
}
