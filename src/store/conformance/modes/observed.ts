// In mode observe no verb changes a row of the team; leases granted earlier continue (OPS-14).
import { afterEach, describe, expect, it } from 'vitest'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import { hasCapability, type StoreCapability } from '../../capability.ts'
import type { JobStore } from '../../job-store.ts'
import {
  beat,
  budgets,
  claimOne,
  complete,
  enqueueOne,
  expectUnchanged,
  fail,
  MINUTE,
  plainPolicy,
  readJob,
  release,
  startDead,
  startMany,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'

const wrongMode = {
  code: 'WRONG_MODE',
  message: expect.stringMatching(/ is in mode observe: .* unstuck mode reap --table /),
}

export function describeObserved(opened: () => TestBench, { lacks = [] }: ConformanceOptions): void {
  describe('a table in mode observe', () => {
    afterEach(() => opened().store.setMode('reap'))
    describeRefusals(opened, lacks)
    if (!lacks.includes('operations')) describeOperationsThere(opened)
    describeLeasesFromBefore(opened)
    describeWords(opened)
  })
}

interface Rows {
  waiting: string
  later: string
  running: string
  dead: string
}

/** A job of each kind, the running one past its lease; then the mode. */
async function observeRows({ store, elapse }: TestBench): Promise<Rows> {
  const dispatched = hasCapability(store, 'dispatch') ? ({ dispatch: 'requeued' } as const) : {}
  await store.writePolicy({ ...plainPolicy, ...budgets.failures, ...dispatched })
  const dead = await startDead(store)
  const running = (await startOne(store)).jobId
  await elapse(2 * MINUTE)
  const later = await enqueueOne(store, { delayMs: 10 * MINUTE })
  const waiting = await enqueueOne(store)
  await store.setMode('observe')
  return { waiting, later, running, dead }
}

type Verb = [
  name: string,
  call: (store: JobStore, rows: Rows) => Promise<unknown>,
  capability?: StoreCapability,
]

const verbs: Verb[] = [
  ['claimJobs', (store) => store.claimJobs({ workerId: 'worker-1', queues: [TYPE], limit: 1 })],
  ['claimJob', (store, { waiting }) => store.claimJob(waiting, { workerId: 'worker-1' })],
  ['enqueueJobs', (store) => store.enqueueJobs([{ type: TYPE }])],
  ['enqueueJobs of many', (store) => store.enqueueJobs(Array.from({ length: 25 }, () => ({ type: TYPE })))],
  ['retryJobs', (store, { dead }) => store.retryJobs([dead])],
  ['cancelJobs', (store, { waiting, running }) => store.cancelJobs([waiting, running])],
  ['discardJobs', (store, { dead }) => store.discardJobs([dead])],
  ['runJobsNow', (store, { later }) => store.runJobsNow([later])],
  ['sweepJobs by hand', (store) => store.sweepJobs()],
  ['pruneJobs', (store) => store.pruneJobs({ retentionDays: 1 })],
  ['takeDispatches', (store) => store.takeDispatches(), 'dispatch'],
  [
    'beginOperation',
    (store) => store.beginOperation({ action: 'retry', q: 'status:dead', filter: {} }),
    'operations',
  ],
]

function describeRefusals(opened: () => TestBench, lacks: readonly StoreCapability[]): void {
  const capable = verbs.filter(([, , capability]) => capability === undefined || !lacks.includes(capability))
  it.each(capable)('OPS-14 %s is refused there, and changes nothing', async (_name, call) => {
    const bench = opened()
    const { store } = bench
    const rows = await observeRows(bench)
    await expectSame(store, rows, () => expect(call(store, rows)).rejects.toMatchObject(wrongMode))
    const count = (await store.listJobs({}, { limit: 100 })).jobs.length
    expect(count).toBe(4)
  })

  it('OPS-14 no override of the policy gets around it', async () => {
    const bench = opened()
    const { store } = bench
    await observeRows(bench)
    const policy = { isObserved: false } as object
    const claim = store.claimJobs({ workerId: 'worker-1', queues: [TYPE], limit: 1, policy })
    await expect(claim).rejects.toMatchObject({ code: expect.stringMatching(/WRONG_MODE|INVALID_ARGUMENT/) })
  })

  it('OPS-14 a schedule can be written there, and enqueues nothing until the mode is left', async () => {
    const { store } = opened()
    await store.setMode('observe')
    const dueAt = new Date(Date.now() - MINUTE)
    await store.writeSchedule({
      name: 'hourly',
      cron: '0 * * * *',
      timezone: 'UTC',
      job: { type: TYPE },
      nextRunAt: dueAt,
    })
    const run = () => store.runSchedule('hourly', { dueAt, nextRunAt: new Date(dueAt.getTime() + MINUTE) })
    await expect(run()).rejects.toMatchObject(wrongMode)
    await store.setMode('reap')
    expect(await run()).toMatchObject({ outcome: 'enqueued' })
  })

  it('OPS-14 verbs refused in observe work in reap and in enforce', async () => {
    const bench = opened()
    const { store } = bench
    const { dead, later } = await observeRows(bench)
    await store.setMode(hasCapability(store, 'enforce') ? 'enforce' : 'reap')
    expect(await store.retryJobs([dead])).toMatchObject([{ outcome: 'retried' }])
    await store.setMode('reap')
    expect(await store.runJobsNow([later])).toMatchObject([{ outcome: 'due' }])
    expect((await sweep(store)).reaped).toMatchObject([{ action: 'requeued' }])
  })
}

function describeOperationsThere(opened: () => TestBench): void {
  it('OPS-14 an operation can be planned there', async () => {
    const bench = opened()
    const { store } = bench
    await observeRows(bench)
    const filter = { status: 'dead' } as const
    const plan = store.beginOperation({ action: 'retry', q: 'status:dead', filter, isPlan: true })
    expect(await plan).toMatchObject({ outcome: 'planned', total: 1 })
  })

  it('OPS-14 an operation begun earlier waits, and continues afterwards', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const dead = await startDead(store)
    const begun = await store.beginOperation({ action: 'retry', q: 'all', filter: {}, leaseMs: MINUTE })
    if (begun.outcome !== 'begun') throw new Error(`the operation is ${begun.outcome}`)
    const lease = { operationId: begun.operation.id, leaseId: begun.leaseId ?? '' }
    await store.setMode('observe')
    expect(await store.stepOperation(lease, { limit: 0 })).toMatchObject({ operation: { changed: 0 } })
    await expectUnchanged(store, dead, () =>
      expect(store.stepOperation(lease, { limit: 10 })).rejects.toMatchObject(wrongMode),
    )
    await elapse(2 * MINUTE)
    expect(await store.takeOperation()).toBeNull()
    await store.setMode('reap')
    const held = await store.takeOperation()
    expect(held?.operation.id).toBe(begun.operation.id)
    const again = { operationId: begun.operation.id, leaseId: held?.leaseId ?? '' }
    expect(await store.stepOperation(again, { limit: 10 })).toMatchObject({ operation: { changed: 1 } })
  })
}

function describeLeasesFromBefore(opened: () => TestBench): void {
  it('OPS-14 leases granted earlier are renewed and ended there', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const [done, failed, released, staged] = await startMany(store, 4)
    if (done === undefined || failed === undefined || released === undefined || staged === undefined)
      throw new Error('four jobs were to be claimed')
    await store.setMode('observe')
    expect(await beat(store, done)).toBe('kept')
    expect(await complete(store, done)).toBe('completed')
    expect(await fail(store, failed)).toMatchObject({ outcome: 'retried' })
    expect(await release(store, released)).toBe('released')
    expect(await store.enterStage(staged, 'upload')).toMatchObject({ outcome: 'entered' })
    expect(await readJob(store, staged.jobId)).toMatchObject({ status: 'running', stage: 'upload' })
  })
}

function describeWords(opened: () => TestBench): void {
  it('OPS-14 OPS-9 a job there explains why nobody claims or reaps it', async () => {
    const bench = opened()
    const { store } = bench
    const { waiting, running } = await observeRows(bench)
    for (const jobId of [waiting, running]) {
      const facts = await store.readJobFacts(jobId)
      if (facts === null) throw new Error(`there are no facts of job ${jobId}`)
      const { reasons, sentence, runsInMs } = explainJob(facts)
      expect(reasons.map(({ code }) => code)).toContain('OBSERVED')
      expect(sentence).toContain('unstuck mode reap')
      expect(runsInMs).toBeNull()
    }
    await store.setMode('reap')
    expect((await claimOne(store)).jobId).toBe(waiting)
  })
}

async function expectSame(store: JobStore, rows: Rows, act: () => Promise<unknown>): Promise<void> {
  const ids = Object.values(rows) as string[]
  const before = await Promise.all(ids.map((id) => readJob(store, id)))
  await act()
  expect(await Promise.all(ids.map((id) => readJob(store, id)))).toEqual(before)
}
