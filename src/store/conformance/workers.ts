import { describe, expect, it } from 'vitest'
import { explainJob } from '../../policy/explain/explain-job.ts'
import type { JobStore, ReaperFacts, WorkerReport, WorkerStatus } from '../job-store.ts'
import {
  DAY,
  enqueueOne,
  expectAbout,
  HOUR,
  invalidArgument,
  MINUTE,
  plainPolicy,
  readJob,
  SECOND,
  startMany,
  startOne,
  TYPE,
} from './builders.ts'
import type { TestBench } from './harness.ts'

const INTERVAL = 15 * SECOND

const report: WorkerReport = {
  workerId: 'worker-1',
  phase: 'running',
  host: 'alpha',
  pid: 4121,
  version: '0.1.0',
  appVersion: '1.4.2',
  types: [TYPE, 'mail'],
  concurrency: 4,
  running: 1,
  loopLagMs: 12,
  reportMs: INTERVAL,
}

async function workerOf(store: JobStore, workerId = 'worker-1'): Promise<WorkerStatus> {
  const found = (await store.listWorkers()).find((worker) => worker.workerId === workerId)
  if (found === undefined) throw new Error(`there is no worker ${workerId}`)
  return found
}

export function describeWorkers(opened: () => TestBench): void {
  describe('workers', () => {
    describeReports(opened)
    describeStates(opened)
    describeDrain(opened)
    describeWhy(opened)
    describeSharedSweeps(opened)
  })
}

function describeReports(opened: () => TestBench): void {
  it('SEE-5 a worker is listed with its whole report', async () => {
    const { store } = opened()
    expect(await store.reportWorker({ ...report, isStart: true })).toMatchObject({ isDrainRequested: false })
    const { startedAt, seenAt, seenMs, reportTimes, ...worker } = await workerOf(store)
    expect(worker).toEqual({
      workerId: 'worker-1',
      state: 'live',
      host: 'alpha',
      pid: 4121,
      version: '0.1.0',
      appVersion: '1.4.2',
      types: [TYPE, 'mail'],
      concurrency: 4,
      running: 0,
      leases: 0,
      loopLagMs: 12,
      drainingAt: null,
      stoppedAt: null,
      exitCode: null,
      drainRequestedAt: null,
      drainRequestedBy: null,
      drainReason: null,
      presence: 'off',
    })
    expect(seenAt).toEqual(startedAt)
    expect(reportTimes).toEqual([startedAt])
    expectAbout(seenMs, 0)
  })

  it('SEE-5 a later report replaces the last one and keeps the start, and the worker seen last is first', async () => {
    const { store, elapse } = opened()
    await store.reportWorker({ ...report, isStart: true })
    await elapse(MINUTE)
    await store.reportWorker({ ...report, workerId: 'worker-2', isStart: true })
    await elapse(SECOND)
    await store.reportWorker({ ...report, loopLagMs: 30 })
    const [first, second, ...others] = await store.listWorkers()
    expect(others).toEqual([])
    expect(first).toMatchObject({ workerId: 'worker-1', loopLagMs: 30 })
    expect(second).toMatchObject({ workerId: 'worker-2' })
    expectAbout((first?.seenAt.getTime() ?? 0) - (first?.startedAt.getTime() ?? 0), MINUTE + SECOND)
  })

  it('SEE-5 the first report of a process replaces that of an earlier one with the same id', async () => {
    const { store } = opened()
    await store.reportWorker({ ...report, isStart: true })
    await store.drainWorker('worker-1')
    await store.reportWorker({ ...report, phase: 'stopped', exitCode: 1 })
    expect(await store.reportWorker({ ...report, isStart: true })).toMatchObject({ isDrainRequested: false })
    expect(await workerOf(store)).toMatchObject({
      state: 'live',
      stoppedAt: null,
      exitCode: null,
      drainingAt: null,
      drainRequestedAt: null,
    })
  })

  it('SEE-9 the last 60 reports of a worker are kept, at least 5 s apart', async () => {
    const { store, elapse } = opened()
    await store.reportWorker({ ...report, isStart: true })
    await elapse(SECOND)
    await store.reportWorker(report)
    for (let nth = 0; nth < 61; nth++) {
      await elapse(10 * SECOND)
      await store.reportWorker(report)
    }
    const { reportTimes, seenAt } = await workerOf(store)
    expect(reportTimes).toHaveLength(60)
    expect(reportTimes.at(-1)).toEqual(seenAt)
    expectAbout(seenAt.getTime() - (reportTimes[0]?.getTime() ?? 0), 590 * SECOND)
    await store.reportWorker({ ...report, isStart: true })
    expect((await workerOf(store)).reportTimes).toHaveLength(1)
  })

  it('OPS-2 workers not seen for the retention are deleted, and no others', async () => {
    const { store, elapse } = opened()
    await store.reportWorker(report)
    await elapse(10 * DAY)
    await store.reportWorker({ ...report, workerId: 'worker-2' })
    await elapse(5 * DAY)
    await store.pruneJobs({ retentionDays: 14 })
    expect((await store.listWorkers()).map(({ workerId }) => workerId)).toEqual(['worker-2'])
  })

  it('OPS-2 one step deletes as many workers as jobs at most, the oldest first', async () => {
    const { store, elapse } = opened()
    for (const workerId of ['worker-1', 'worker-2', 'worker-3']) {
      await store.reportWorker({ ...report, workerId })
      await elapse(DAY)
    }
    await elapse(14 * DAY)
    await store.pruneJobs({ retentionDays: 14, limit: 2 })
    expect((await store.listWorkers()).map(({ workerId }) => workerId)).toEqual(['worker-3'])
  })

  it('OPS-8 a bad report is refused', async () => {
    const { store } = opened()
    const bad: Partial<WorkerReport>[] = [
      { workerId: '' },
      { concurrency: -1 },
      { running: 1.5 },
      { reportMs: 0 },
      { appVersion: '' },
      { appVersion: 'x'.repeat(201) },
      { phase: 'asleep' as WorkerReport['phase'] },
    ]
    for (const fields of bad)
      await expect(store.reportWorker({ ...report, ...fields })).rejects.toMatchObject(invalidArgument)
    expect(await store.listWorkers()).toEqual([])
  })
}

function describeStates(opened: () => TestBench): void {
  it('SEE-5 a worker is live for 3 intervals after its report, then late, then gone', async () => {
    const { store, elapse } = opened()
    await store.reportWorker(report)
    await elapse(2 * INTERVAL)
    expect(await workerOf(store)).toMatchObject({ state: 'live' })
    await elapse(2 * INTERVAL)
    expect(await workerOf(store)).toMatchObject({ state: 'late' })
    await elapse(3 * INTERVAL)
    const gone = await workerOf(store)
    expect(gone.state).toBe('gone')
    expectAbout(gone.seenMs, 7 * INTERVAL)
  })

  it('SEE-5 an unseen worker with running jobs is silent', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, defaultLeaseMs: HOUR })
    await store.reportWorker(report)
    await startOne(store)
    await elapse(7 * INTERVAL)
    expect(await workerOf(store)).toMatchObject({ state: 'silent', leases: 1 })
  })

  it('LEASE-8 a live worker with a job past its deadline is a zombie', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, defaultDeadlineMs: MINUTE })
    await startOne(store)
    await elapse(2 * MINUTE)
    await store.reportWorker(report)
    await store.reportWorker({ ...report, workerId: 'worker-2' })
    expect(await workerOf(store)).toMatchObject({ state: 'zombie' })
    expect(await workerOf(store, 'worker-2')).toMatchObject({ state: 'live' })
  })

  it('WORK-4 draining and stopped workers are listed as such, with the exit code', async () => {
    const { store, elapse } = opened()
    await store.reportWorker(report)
    await store.reportWorker({ ...report, phase: 'draining' })
    expect(await workerOf(store)).toMatchObject({ state: 'draining', stoppedAt: null })
    await elapse(MINUTE)
    await store.reportWorker({ ...report, phase: 'stopped', running: 0, exitCode: 1 })
    await elapse(HOUR)
    const stopped = await workerOf(store)
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 1 })
    expectAbout((stopped.stoppedAt?.getTime() ?? 0) - (stopped.drainingAt?.getTime() ?? 0), MINUTE)
  })
}

function describeDrain(opened: () => TestBench): void {
  it('WORK-4 every report of a draining worker returns the request, and the list shows who asked and why', async () => {
    const { store } = opened()
    await store.reportWorker(report)
    expect(await store.drainWorker('worker-1', { actor: 'ana', reason: 'new host' })).toBe('asked')
    expect(await store.reportWorker(report)).toMatchObject({ isDrainRequested: true })
    expect(await store.reportWorker({ ...report, phase: 'draining' })).toMatchObject({
      isDrainRequested: true,
    })
    expect(await workerOf(store)).toMatchObject({ drainRequestedBy: 'ana', drainReason: 'new host' })
    expect((await workerOf(store)).drainRequestedAt).toBeInstanceOf(Date)
  })

  it('WORK-4 requests to a draining, a stopped and an unknown worker have different outcomes', async () => {
    const { store } = opened()
    await store.reportWorker(report)
    await store.drainWorker('worker-1', { actor: 'ana' })
    expect(await store.drainWorker('worker-1', { actor: 'bob' })).toBe('already-asked')
    expect(await workerOf(store)).toMatchObject({ drainRequestedBy: 'ana' })
    await store.reportWorker({ ...report, phase: 'stopped' })
    expect(await store.drainWorker('worker-1')).toBe('stopped')
    expect(await store.drainWorker('worker-9')).toBe('not-found')
  })
}

function describeWhy(opened: () => TestBench): void {
  async function reasonsOf(store: JobStore, jobId: string): Promise<Record<string, string>> {
    const facts = await store.readJobFacts(jobId)
    if (facts === null) throw new Error(`there is no job ${jobId}`)
    return Object.fromEntries(explainJob(facts).reasons.map(({ code, message }) => [code, message]))
  }

  it('SEE-7 a worker that handles the type, but claims from other queues only, does not run the job', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    const elsewhere = { ...report, hintedQueues: ['slow'] }
    await store.reportWorker(elsewhere)
    expect(await reasonsOf(store, jobId)).toEqual({
      NO_WORKER_FOR_TYPE: `1 live worker handles ${TYPE}, but none claims from queue ${TYPE}`,
    })
    expect((await store.readJobFacts(jobId))?.workers).toMatchObject({ handling: 0, slots: 0, elsewhere: 1 })
    await store.reportWorker({ ...report, workerId: 'worker-2', hintedQueues: ['slow', TYPE] })
    expect(await reasonsOf(store, jobId)).toHaveProperty('RUNNABLE')
  })

  it('OPS-9 a job whose type no live worker handles reports it, and when one was last seen', async () => {
    const { store, elapse } = opened()
    const jobId = await enqueueOne(store)
    expect(await reasonsOf(store, jobId)).toHaveProperty('RUNNABLE')
    await store.reportWorker(report)
    expect(await reasonsOf(store, jobId)).toHaveProperty('RUNNABLE')
    await elapse(3 * HOUR)
    await store.reportWorker({ ...report, workerId: 'worker-2', types: ['mail'] })
    expect(await reasonsOf(store, jobId)).toEqual({
      NO_WORKER_FOR_TYPE: `the only live worker does not handle ${TYPE}, last seen 3 h ago`,
    })
    await store.reportWorker({ ...report, phase: 'draining' })
    expect(await reasonsOf(store, jobId)).toHaveProperty('NO_WORKER_FOR_TYPE')
  })

  it('OPS-9 a job whose workers are all busy reports how many there are', async () => {
    const { store } = opened()
    await store.reportWorker(report)
    await startMany(store, 6)
    const jobId = await enqueueOne(store)
    expect(await reasonsOf(store, jobId)).toEqual({ ALL_SLOTS_BUSY: '4 of 4 slots busy' })
    await store.reportWorker({ ...report, workerId: 'worker-2' })
    expect(await reasonsOf(store, jobId)).toHaveProperty('RUNNABLE')
  })

  it('SEE-7 a worker asked to drain takes no more jobs', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    await store.reportWorker(report)
    await store.drainWorker('worker-1', { actor: 'ana' })
    expect(await workerOf(store)).toMatchObject({ state: 'draining' })
    expect(await reasonsOf(store, jobId)).toHaveProperty('NO_WORKER_FOR_TYPE')
  })

  it('SEE-7 leases beyond the slots are claimed ahead, not running', async () => {
    const { store } = opened()
    await store.reportWorker(report)
    await startMany(store, 6)
    expect(await workerOf(store)).toMatchObject({ concurrency: 4, running: 4, leases: 6 })
  })
}

function describeSharedSweeps(opened: () => TestBench): void {
  const intervalMs = 10 * SECOND
  const isDue = async ({ store }: TestBench) =>
    (await store.reportWorker({ ...report, sweepIntervalMs: intervalMs })).isSweepDue
  const sweep = ({ store }: TestBench, reaper: Partial<ReaperFacts> = {}) =>
    store.sweepJobs({ reaper: { reaperId: 'r', ...reaper } })

  it('REAP-17 a sweep is redundant while another one is younger than the interval', async () => {
    const bench = opened()
    expect((await sweep(bench, { intervalMs })).isRedundant).not.toBe(true)
    const { jobId } = await startOne(bench.store, {}, { leaseMs: SECOND })
    await bench.elapse(5 * SECOND)
    expect(await sweep(bench, { intervalMs })).toMatchObject({ isRedundant: true, reaped: [], next: null })
    await bench.elapse(5 * SECOND)
    expect((await sweep(bench, { intervalMs })).reaped).toMatchObject([{ jobId }])
  })

  it('REAP-17 a sweep without an interval is never redundant, nor is one by hand', async () => {
    const bench = opened()
    await sweep(bench)
    const [first, second] = await startMany(bench.store, 2, { leaseMs: SECOND })
    await bench.elapse(5 * SECOND)
    expect((await bench.store.sweepJobs({ limit: 1 })).reaped).toHaveLength(1)
    expect((await sweep(bench)).reaped).toHaveLength(1)
    expect(await readJob(bench.store, first?.jobId ?? '')).toMatchObject({ status: 'waiting' })
    expect(await readJob(bench.store, second?.jobId ?? '')).toMatchObject({ status: 'waiting' })
  })

  it('REAP-17 a report says that a sweep is due when none was made for more than the interval', async () => {
    const bench = opened()
    expect(await isDue(bench)).toBe(true)
    await sweep(bench)
    expect(await isDue(bench)).toBe(false)
    await bench.elapse(intervalMs + 500)
    expect(await isDue(bench)).toBe(false)
    await bench.elapse(SECOND)
    expect(await isDue(bench)).toBe(true)
    expect((await bench.store.reportWorker(report)).isSweepDue).toBe(false)
  })
}
