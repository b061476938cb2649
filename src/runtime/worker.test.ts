// The worker over the memory store: what real processes cannot show on command.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { criticalError, UnstuckError } from '../errors/index.ts'
import type { Job } from '../job/job.ts'
import { RuntimeEventEmitter, type RuntimeEvents } from '../observe/events.ts'
import type { JobStore } from '../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../store/memory/index.ts'
import type { Handler, HandlerOptions } from './handler.ts'
import { startMainHeartbeat } from './heartbeat.ts'
import { startWorker, type Worker } from './worker.ts'

let store: MemoryJobStore
let worker: Worker | undefined
let events: RuntimeEventEmitter

beforeEach(() => {
  store = createMemoryStore({
    policy: {
      defaultLeaseMs: 500,
      failureBackoffStepsMs: [0],
      failureBackoffJitterMs: 0,
      reapBackoffStepsMs: [0],
      requeueRatePerS: 0,
    },
  })
  events = new RuntimeEventEmitter()
})
afterEach(async () => {
  await worker?.stop()
  await worker?.ended
  worker = undefined
})

function work(
  handler: Handler,
  {
    options = {},
    over = store,
    concurrency = 4,
  }: { options?: HandlerOptions; over?: JobStore; concurrency?: number } = {},
): Worker {
  const heartbeat = startMainHeartbeat({
    store: over,
    intervalMs: 50,
    policy: {},
    events: {
      onFailed: (error, failingForMs) => events.emit('heartbeat:failed', { error, failingForMs }),
      onRecovered: (failedForMs) => events.emit('heartbeat:recovered', { failedForMs }),
      onLag: () => {},
    },
  })
  worker = startWorker({
    store: over,
    tableName: 'jobs',
    workerId: 'worker-1',
    handlers: [{ type: 'asr', handler, ...options }],
    heartbeat,
    events,
    transaction: <T>() => Promise.reject<T>(new Error('this store has no transactions')),
    policy: {},
    concurrency,
    sweepIntervalMs: 100,
    pollMs: [10, 20],
    graceMs: 200,
    hangGraceMs: 100,
    txTimeoutMs: 1_000,
    leakBudget: 2,
    onHang: 'reopen',
  })
  return worker
}

async function enqueue(count = 1): Promise<string[]> {
  const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
  return jobs.map(({ jobId }) => jobId)
}

const job = async (jobId = ''): Promise<Job | null> => store.getJob(jobId)
const untilStatus = (jobId: string | undefined, status: Job['status']) =>
  vi.waitFor(async () => expect((await job(jobId))?.status).toBe(status), { timeout: 5_000, interval: 10 })
const once = <Name extends keyof RuntimeEvents>(name: Name) =>
  new Promise<RuntimeEvents[Name]>((resolve) => {
    const off = events.on(name, (fields) => {
      off()
      resolve(fields)
    })
  })

/** The real store, with one verb answered otherwise. */
function withVerb<Verb extends keyof JobStore>(
  verb: Verb,
  answer: (real: JobStore[Verb]) => JobStore[Verb],
): JobStore {
  const replaced = answer(store[verb].bind(store) as JobStore[Verb])
  return new Proxy(store, {
    get: (target, name, receiver) =>
      name === verb ? replaced : (Reflect.get(target, name, receiver) as unknown),
  })
}

it('WORK-1 a worker never runs more jobs at once than it has slots, and claims again as soon as one is free', async () => {
  const ids = await enqueue(12)
  let running = 0
  let most = 0
  work(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
    },
    { concurrency: 3 },
  )
  for (const jobId of ids) await untilStatus(jobId, 'succeeded')
  expect(most).toBe(3)
})

it('LEASE-8 a handler that makes no progress within its limit is aborted as a timeout', async () => {
  const [jobId] = await enqueue()
  const reasons: unknown[] = []
  work(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          reject(new Error('told to stop'))
        })
      }),
    { options: { progressLimitMs: 60 } },
  )
  await untilStatus(jobId, 'dead')
  expect(await job(jobId)).toMatchObject({ timeouts: 3, failures: 0 })
  expect(reasons[0]).toMatchObject({ abortCause: 'no-progress' })
})

it('LEASE-8 progress holds the limit off', async () => {
  const [jobId] = await enqueue()
  work(
    async (_, { progress }) => {
      for (let step = 0; step < 6; step++) {
        await new Promise((resolve) => setTimeout(resolve, 40))
        progress()
      }
    },
    { options: { progressLimitMs: 120 } },
  )
  await untilStatus(jobId, 'succeeded')
  expect(await job(jobId)).toMatchObject({ timeouts: 0, attempt: 1 })
})

it('FAIL-3 a critical error ends its job, and the worker claims no more and leaves with 1', async () => {
  const ids = await enqueue(2)
  const leaving = work(() => Promise.reject(criticalError('the key was revoked')), { concurrency: 1 })
  expect(await leaving.ended).toBe(1)
  expect(await job(ids[0])).toMatchObject({ status: 'dead', error: { category: 'CRITICAL' } })
  expect(await job(ids[1])).toMatchObject({ status: 'waiting', attempt: 0 })
})

it('C2 C3 a completion whose answer was lost is asked for again, and is done once', async () => {
  const [jobId] = await enqueue()
  let calls = 0
  const flaky = withVerb('completeJobs', (real) => async (completions) => {
    calls++
    const answers = await real(completions)
    if (calls === 1) throw new UnstuckError('DATABASE_UNREACHABLE', 'the answer to COMMIT was lost')
    return answers
  })
  const ended = once('job:ended')
  work(async () => 'result', { over: flaky })
  expect(await ended).toMatchObject({ end: 'completed' })
  expect(calls).toBe(2)
  expect(await job(jobId)).toMatchObject({ status: 'succeeded', result: 'result', fence: 1 })
})

it('C6 a worker that cannot beat claims nothing until it can again', async () => {
  let isDown = true
  const cut = withVerb('heartbeatJobs', (real) => async (leases, options) => {
    if (isDown) throw new UnstuckError('DATABASE_UNREACHABLE', 'connection refused')
    return real(leases, options)
  })
  const [first] = await enqueue()
  const release = { now: () => {} }
  work(
    () =>
      new Promise<void>((resolve) => {
        release.now = resolve
      }),
    { over: cut, concurrency: 2 },
  )
  await once('heartbeat:failed')
  const [second] = await enqueue()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect((await job(second))?.status).toBe('waiting')
  isDown = false
  await once('heartbeat:recovered')
  await untilStatus(second, 'running')
  release.now()
  expect(first).toBeDefined()
})

it('WORK-6 LEASE-5 only the job whose lease is lost is aborted', async () => {
  const [lost, kept] = await enqueue(2)
  const aborted: string[] = []
  let finish = () => {}
  work(
    (claimed, { signal }) =>
      new Promise<void>((resolve, reject) => {
        if (claimed.jobId === kept) finish = resolve
        signal.addEventListener('abort', () => {
          aborted.push(claimed.jobId)
          reject(new Error('told to stop'))
        })
      }),
  )
  await untilStatus(kept, 'running')
  await untilStatus(lost, 'running')
  // Somebody took it by hand, as an operator with psql would.
  store.plantJob({
    ...(await job(lost)),
    status: 'waiting',
    leaseId: null,
    workerId: null,
    leaseExpiresAt: null,
    runAt: new Date(Date.now() + 3_600_000),
  })
  await vi.waitFor(() => expect(aborted).toEqual([lost]), { timeout: 5_000 })
  finish()
  await untilStatus(kept, 'succeeded')
  expect((await store.listEvents(lost ?? '')).map(({ type }) => type)).toContain('late_result')
})

it('WORK-4 stop gives a handler that does not listen its grace, and the job back', async () => {
  const [jobId] = await enqueue()
  const stopping = work(() => new Promise(() => {}))
  await untilStatus(jobId, 'running')
  await stopping.stop()
  expect(await stopping.ended).toBe(0)
  expect(await job(jobId)).toMatchObject({ status: 'waiting', attempt: 0, interruptions: 1 })
})
