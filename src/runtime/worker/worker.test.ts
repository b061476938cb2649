// The worker over the memory store: what real processes cannot show on command.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { criticalError, UnstuckError } from '../../errors/index.ts'

let bench: MemoryWorkerBench
beforeEach(() => {
  bench = new MemoryWorkerBench()
})
afterEach(() => bench.stop())

it('WORK-1 a worker never runs more jobs at once than it has slots, and claims again as soon as one is free', async () => {
  const ids = await bench.enqueue(12)
  let running = 0
  let most = 0
  bench.work(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
    },
    { concurrency: 3 },
  )
  for (const jobId of ids) await bench.untilStatus(jobId, 'succeeded')
  expect(most).toBe(3)
})

it('LEASE-5 a job whose claim was answered after its lease is not started: somebody else may have it', async () => {
  const [jobId] = await bench.enqueue()
  let isFirst = true
  const over = bench.withVerb('claimJobs', (claimJobs) => async (request) => {
    const jobs = await claimJobs(request)
    if (isFirst && jobs.length > 0) {
      isFirst = false
      await new Promise((resolve) => setTimeout(resolve, 700))
    }
    return jobs
  })
  const fences: number[] = []
  bench.work(
    async (job) => {
      fences.push(job.fence)
    },
    { over },
  )
  await bench.untilStatus(jobId, 'succeeded')
  expect(fences).toEqual([2])
})

it('LEASE-5 WORK-10 after a standstill longer than the lease, a job that was claimed ahead starts once a beat has kept it', async () => {
  const ids = await bench.enqueue(20)
  // More than was asked for: nineteen wait for the one slot.
  const over = bench.withVerb(
    'claimJobs',
    (claimJobs) => (request) => claimJobs({ ...request, limit: ids.length }),
  )
  let beats = 0
  bench.events.on('heartbeat:sent', () => beats++)
  let blocked = ''
  const beatsBefore: number[] = []
  bench.work(
    async ({ leaseId }) => {
      if (leaseId === blocked) beatsBefore.push(beats)
      if (blocked !== '') return
      const untilMs = performance.now() + 700
      while (performance.now() < untilMs);
      blocked = leaseId
      beats = 0
    },
    // Whoever sweeps before the next beat would take them.
    { over, concurrency: 1, sweepIntervalMs: 60_000 },
  )
  for (const jobId of ids) await bench.untilStatus(jobId, 'succeeded')
  expect(beatsBefore).toHaveLength(ids.length - 1)
  expect(Math.min(...beatsBefore)).toBeGreaterThan(0)
})

it('C5 C6 a stage whose answer took longer than the lease has renewed nothing: the job stays at risk', async () => {
  const [jobId] = await bench.enqueue()
  const enterStage = bench.store.enterStage.bind(bench.store)
  const over = new Proxy(bench.store, {
    get: (target, name, receiver) => {
      if (name === 'heartbeatJobs')
        return async () => Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'away'))
      if (name !== 'enterStage') return Reflect.get(target, name, receiver) as unknown
      return async (...call: Parameters<typeof enterStage>) => {
        const entered = await enterStage(...call)
        await new Promise((resolve) => setTimeout(resolve, 1_200))
        return entered
      }
    },
  })
  const risks: boolean[] = []
  bench.work(
    async (_, { stage, isAtRisk }) => {
      await stage('upload')
      risks.push(isAtRisk())
    },
    { over, sweepIntervalMs: 60_000 },
  )
  await bench.untilStatus(jobId, 'succeeded')
  expect(risks).toEqual([true])
})

it('LEASE-8 a handler that makes no progress within its limit is aborted as a timeout', async () => {
  const [jobId] = await bench.enqueue()
  const reasons: unknown[] = []
  bench.work(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          reject(new Error('told to stop'))
        })
      }),
    { options: { progressLimitMs: 60 } },
  )
  await bench.untilStatus(jobId, 'dead')
  expect(await bench.job(jobId)).toMatchObject({ timeouts: 3, failures: 0 })
  expect(reasons[0]).toMatchObject({ abortCause: 'no-progress' })
})

it('LEASE-8 progress holds the limit off', async () => {
  const [jobId] = await bench.enqueue()
  bench.work(
    async (_, { progress }) => {
      for (let step = 0; step < 12; step++) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        progress()
      }
    },
    { options: { progressLimitMs: 1_000 } },
  )
  await bench.untilStatus(jobId, 'succeeded')
  expect(await bench.job(jobId)).toMatchObject({ timeouts: 0, attempt: 1 })
})

it('FAIL-3 a critical error ends its job, and the worker claims no more and leaves with 1', async () => {
  const ids = await bench.enqueue(2)
  const leaving = bench.work(() => Promise.reject(criticalError('the key was revoked')), { concurrency: 1 })
  expect(await leaving.ended).toBe(1)
  expect(await bench.job(ids[0])).toMatchObject({ status: 'dead', error: { category: 'CRITICAL' } })
  expect(await bench.job(ids[1])).toMatchObject({ status: 'waiting', attempt: 0 })
})

it('C2 a failure whose answer was lost ends as retried, although the job has succeeded elsewhere since', async () => {
  const [jobId = ''] = await bench.enqueue()
  let elsewhere: Awaited<ReturnType<typeof bench.store.claimJob>> = 'not-claimable'
  const flaky = bench.withVerb('failJobs', (failJobs) => async (failures, options) => {
    const outcomes = await failJobs(failures, options)
    if (elsewhere === 'not-claimable') {
      elsewhere = await bench.store.claimJob(jobId, { workerId: 'elsewhere' })
      throw new UnstuckError('DATABASE_UNREACHABLE', 'the answer was lost')
    }
    await bench.store.completeJobs([elsewhere])
    return outcomes
  })
  const ended = bench.once('job:ended')
  bench.work(async () => Promise.reject(new Error('busy')), { over: flaky })
  expect(await ended).toMatchObject({ end: 'retried' })
  expect(await bench.job(jobId)).toMatchObject({ status: 'succeeded', fence: 2 })
})

it('C2 C3 a completion whose answer was lost is asked for again, and is done once', async () => {
  const [jobId] = await bench.enqueue()
  let calls = 0
  const flaky = bench.withVerb('completeJobs', (real) => async (completions) => {
    calls++
    const answers = await real(completions)
    if (calls === 1) throw new UnstuckError('DATABASE_UNREACHABLE', 'the answer to COMMIT was lost')
    return answers
  })
  const ended = bench.once('job:ended')
  bench.work(async () => 'result', { over: flaky })
  expect(await ended).toMatchObject({ end: 'completed' })
  expect(calls).toBe(2)
  expect(await bench.job(jobId)).toMatchObject({ status: 'succeeded', result: 'result', fence: 1 })
})

it('C6 a worker that cannot beat claims nothing until it can again', async () => {
  let isDown = true
  const cut = bench.withVerb('heartbeatJobs', (real) => async (leases, options) => {
    if (isDown) throw new UnstuckError('DATABASE_UNREACHABLE', 'connection refused')
    return real(leases, options)
  })
  const [first] = await bench.enqueue()
  const release = { now: () => {} }
  bench.work(
    () =>
      new Promise<void>((resolve) => {
        release.now = resolve
      }),
    { over: cut, concurrency: 2 },
  )
  await bench.once('heartbeat:failed')
  const [second] = await bench.enqueue()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect((await bench.job(second))?.status).toBe('waiting')
  isDown = false
  await bench.once('heartbeat:recovered')
  await bench.untilStatus(second, 'running')
  release.now()
  expect(first).toBeDefined()
})

it('C6 a worker whose last job ended while beats failed claims again when they work', async () => {
  let isDown = true
  const cut = bench.withVerb('heartbeatJobs', (real) => async (leases, options) => {
    if (isDown) throw new UnstuckError('DATABASE_UNREACHABLE', 'connection refused')
    return real(leases, options)
  })
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const [first] = await bench.enqueue()
  bench.work(() => held, { over: cut })
  await bench.once('heartbeat:failed')
  finish()
  await bench.untilStatus(first, 'succeeded')
  const [second] = await bench.enqueue()
  isDown = false
  await bench.untilStatus(second, 'succeeded')
})

it('C6 a job whose beats fail for a lease is at risk: its handler can ask, and its gateway makes no new call', async () => {
  let isDown = false
  const cut = bench.withVerb('heartbeatJobs', (real) => async (leases, options) => {
    if (isDown) throw new UnstuckError('DATABASE_UNREACHABLE', 'connection refused')
    return real(leases, options)
  })
  const [jobId] = await bench.enqueue()
  const calls: unknown[] = []
  const atRisk = bench.once('job:at-risk')
  bench.work(
    async (_, { isAtRisk, gateway, signal }) => {
      expect(isAtRisk()).toBe(false)
      isDown = true
      await atRisk
      expect(isAtRisk()).toBe(true)
      calls.push(await gateway('http://127.0.0.1:9/').catch((error: unknown) => error))
      isDown = false
      await bench.once('heartbeat:recovered')
      await expect.poll(isAtRisk).toBe(false)
      expect(signal.aborted).toBe(false)
    },
    // Nobody else takes the job in the meantime.
    { over: cut, sweepIntervalMs: 60_000 },
  )
  await bench.untilStatus(jobId, 'succeeded')
  expect(calls).toMatchObject([{ message: 'no heartbeat was answered in time: the lease may have expired' }])
  expect(await bench.job(jobId)).toMatchObject({ attempt: 1, fence: 1 })
})

it('WORK-6 LEASE-5 only the job whose lease is lost is aborted', async () => {
  const [lost, kept] = await bench.enqueue(2)
  const aborted: string[] = []
  let finish = () => {}
  bench.work(
    (claimed, { signal }) =>
      new Promise<void>((resolve, reject) => {
        if (claimed.jobId === kept) finish = resolve
        signal.addEventListener('abort', () => {
          aborted.push(claimed.jobId)
          reject(new Error('told to stop'))
        })
      }),
  )
  await bench.untilStatus(kept, 'running')
  await bench.untilStatus(lost, 'running')
  // Somebody took it by hand, as an operator with psql would.
  bench.store.plantJob({
    ...(await bench.job(lost)),
    status: 'waiting',
    leaseId: null,
    workerId: null,
    leaseExpiresAt: null,
    runAt: new Date(Date.now() + 3_600_000),
  })
  await vi.waitFor(() => expect(aborted).toEqual([lost]), { timeout: 30_000 })
  finish()
  await bench.untilStatus(kept, 'succeeded')
  expect((await bench.store.listEvents(lost ?? '')).map(({ type }) => type)).toContain('late_result')
})

it('WORK-4 a second stop changes nothing, and leaveNow ends the grace', async () => {
  const [jobId] = await bench.enqueue()
  let isAborted = false
  const worker = bench.work(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true
          reject(new Error('told to stop'))
        })
      }),
    { graceMs: 60_000 },
  )
  await bench.untilStatus(jobId, 'running')
  void worker.stop()
  void worker.stop()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(isAborted).toBe(false)
  worker.leaveNow()
  expect(await worker.ended).toBe(0)
  expect(await bench.job(jobId)).toMatchObject({ status: 'waiting', attempt: 0, interruptions: 1 })
})

it('WORK-4 a worker leaves although the database does not answer its last writes', async () => {
  const gone = bench.withVerb('releaseJobs', () => () => new Promise(() => {}))
  const [jobId] = await bench.enqueue()
  const worker = bench.work(() => new Promise(() => {}), { over: gone, graceMs: 60_000 })
  await bench.untilStatus(jobId, 'running')
  void worker.stop()
  worker.leaveNow()
  expect(await worker.ended).toBe(0)
})

it('LEASE-8 a hung handler that ends after all gives its place in the leak budget back', async () => {
  await bench.enqueue(6)
  const hung: unknown[] = []
  bench.events.on('job:hung', (fields) => hung.push(fields))
  const worker = bench.work(() => new Promise((resolve) => setTimeout(resolve, 250)), {
    options: { progressLimitMs: 20 },
    concurrency: 1,
  })
  await vi.waitFor(() => expect(hung.length).toBeGreaterThan(4), { timeout: 30_000 })
  expect(worker.problems().join()).not.toMatch(/leaving/)
})

it('C4 a completion that is held up by a locked row holds up no other', async () => {
  const [locked, release] = gate()
  const [held, noteHeld] = gate()
  const [stuck, ...others] = await bench.enqueue(20)
  const over = bench.withVerb('completeJobs', (real) => async (completions) => {
    if (completions.some(({ jobId }) => jobId === stuck)) {
      noteHeld()
      await locked
    }
    return real(completions)
  })
  // The others end while that call is under way: results that arrive together are written together.
  bench.work(({ jobId }) => (jobId === stuck ? Promise.resolve() : held), { over })
  for (const jobId of others) await bench.untilStatus(jobId, 'succeeded')
  expect((await bench.job(stuck))?.status).toBe('running')
  release()
  await bench.untilStatus(stuck, 'succeeded')
})

function gate(): [opened: Promise<void>, open: () => void] {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return [opened, open]
}

it('WORK-4 stop gives a handler that does not listen its grace, and the job back', async () => {
  const [jobId] = await bench.enqueue()
  const stopping = bench.work(() => new Promise(() => {}))
  await bench.untilStatus(jobId, 'running')
  await stopping.stop()
  expect(await stopping.ended).toBe(0)
  expect(await bench.job(jobId)).toMatchObject({ status: 'waiting', attempt: 0, interruptions: 1 })
})
