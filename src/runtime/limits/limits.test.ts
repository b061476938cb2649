// Rate limits and breakers of a worker, over the memory store; test/surface has them between real processes.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { permanentError, transientError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { requireLimits, TokenLimiter } from './token-limiter.ts'

let bench: MemoryWorkerBench
beforeEach(() => {
  bench = new MemoryWorkerBench()
})
afterEach(() => bench.stop())

const slow = { key: 'asr', ratePerS: 0.001, burst: 2 }

describe('limits', () => {
  it('RATE-1 as many jobs start as there are tokens; the others wait with no attempt spent', async () => {
    const ids = await bench.enqueue(5)
    const started: string[] = []
    bench.work(async ({ jobId }) => void started.push(jobId), { options: { limits: [slow] } })
    await bench.untilStatus(ids[0], 'succeeded')
    await bench.untilStatus(ids[1], 'succeeded')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(started).toEqual(ids.slice(0, 2))
    for (const jobId of ids.slice(2)) {
      expect(await bench.job(jobId)).toMatchObject({ status: 'waiting', attempt: 0, failures: 0 })
    }
  })

  it('RATE-2 tokens gone in the middle of a batch: the unstarted go back in one call, the started finish', async () => {
    const ids = await bench.enqueue(4)
    // Another worker takes one of the two tokens between our claim and our start.
    const releases: number[] = []
    const raced = bench.withVerb('takeTokens', (real) => async (limits, tokens) => {
      await real(limits, 1)
      return real(limits, tokens)
    })
    const over = new Proxy(raced, {
      get(target, name, receiver) {
        if (name !== 'releaseJobs') return Reflect.get(target, name, receiver) as unknown
        const counted: typeof bench.store.releaseJobs = (leases, options) => {
          releases.push(leases.length)
          return bench.store.releaseJobs(leases, options)
        }
        return counted
      },
    })
    const reached = bench.once('limit:reached')
    let finish = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    bench.work(() => held, { over, options: { limits: [{ ...slow, burst: 4 }] } })
    expect(await reached).toMatchObject({ key: 'asr', released: 1 })
    expect(releases).toEqual([1])
    expect(await bench.job(ids[3])).toMatchObject({ status: 'waiting', attempt: 0, releases: 1, failures: 0 })
    // Longer than a lease of 500 ms: what runs keeps beating.
    await new Promise((resolve) => setTimeout(resolve, 700))
    for (const jobId of ids.slice(0, 3)) expect((await bench.job(jobId))?.status).toBe('running')
    finish()
    for (const jobId of ids.slice(0, 3)) await bench.untilStatus(jobId, 'succeeded')
    expect(await bench.job(ids[0])).toMatchObject({ attempt: 1, fence: 1 })
  })

  it('RATE-3 a retry waits for its backoff and then for a token, each with a timer of its own', async () => {
    const [jobId] = await bench.enqueue()
    bench.work(() => Promise.reject(transientError('busy', { retryAfterMs: 3_600_000 })), {
      options: { limits: [slow] },
    })
    const untilFailures = async (failures: number) => {
      const expected = { status: 'waiting', attempt: failures, failures }
      await expect.poll(() => bench.job(jobId)).toMatchObject(expected)
    }
    // Time to start again, for a job that must not.
    const settled = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return bench.job(jobId)
    }
    // A token is left, and the backoff keeps the job.
    await untilFailures(1)
    expect(await settled()).toMatchObject({ status: 'waiting', attempt: 1, failures: 1 })
    bench.store.elapse(3_600_001)
    await untilFailures(2)
    // The backoff is over, and there is no token: the counts of failures stay as they were.
    bench.store.elapse(3_600_001)
    expect(await settled()).toMatchObject({ status: 'waiting', attempt: 2, failures: 2 })
  })

  it('RATE-4 each owner has tokens of its own beside the limit of all', async () => {
    const greedy = await bench.enqueue(3, 'greedy')
    const modest = await bench.enqueue(1, 'modest')
    const started: string[] = []
    bench.work(async ({ jobId }) => void started.push(jobId), {
      options: { limits: [{ key: 'owner', ratePerS: 0.001, burst: 1, perOwner: true }] },
    })
    await bench.untilStatus(greedy[0], 'succeeded')
    await bench.untilStatus(modest[0], 'succeeded')
    expect(started).toHaveLength(2)
    const parked = await Promise.all(greedy.slice(1).map((jobId) => bench.job(jobId)))
    for (const job of parked) expect(job).toMatchObject({ status: 'waiting', attempt: 0, releases: 1 })
    // One appointment after the other: a thousand seconds apart, up to the farthest.
    expect(Number(parked[1]?.runAt) - Number(parked[0]?.runAt)).toBeGreaterThan(500_000)
  })

  it('RATE-5 a job that is sent back a hundred times has spent nothing', async () => {
    const [jobId] = await bench.enqueue()
    let isOpen = false
    const over = bench.withVerb('takeTokens', (real) => async (limits, tokens) => {
      return isOpen ? real(limits, tokens) : { granted: 0, retryInMs: 1 }
    })
    bench.work(async () => 'done', { over, options: { limits: [{ key: 'asr', ratePerS: 1_000, burst: 1 }] } })
    const look = async () => expect((await bench.job(jobId))?.releases).toBeGreaterThan(100)
    await vi.waitFor(look, { timeout: 30_000 })
    isOpen = true
    await bench.untilStatus(jobId, 'succeeded')
    expect(await bench.job(jobId)).toMatchObject({ attempt: 1, failures: 0, crashes: 0, timeouts: 0 })
  })

  it('RATE-1 a limit of the process asks nobody else', async () => {
    const limiter = new TokenLimiter({ takeTokens: () => Promise.reject(new Error('asked')) }, () => [
      { key: 'cpu', ratePerS: 0.001, burst: 1, scope: 'process' },
    ])
    const jobs = [{ type: 'asr' }, { type: 'asr' }] as ClaimedJob[]
    const { admitted, parked } = await limiter.admit(jobs)
    expect([admitted.length, parked[0]?.jobs.length]).toEqual([1, 1])
    expect(limiter.allowance('asr')).toMatchObject({ jobs: 0 })
  })

  it('RATE-1 tokens of the process that the shared limit does not match are given back', async () => {
    const limiter = new TokenLimiter({ takeTokens: async () => ({ granted: 0, retryInMs: 10 }) }, () => [
      { key: 'cpu', ratePerS: 0.001, burst: 5, scope: 'process' },
      { key: 'gateway', ratePerS: 1_000, burst: 5 },
    ])
    const { parked } = await limiter.admit([{ type: 'asr' }, { type: 'asr' }] as ClaimedJob[])
    expect(parked[0]?.jobs).toHaveLength(2)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(limiter.allowance('asr').jobs).toBe(5)
  })

  it('RATE-5 where tokens cannot be asked for, the jobs go back with a delay and no attempt', async () => {
    const [jobId] = await bench.enqueue()
    const over = bench.withVerb('takeTokens', () => () => Promise.reject(new Error('no tokens today')))
    const failed = bench.once('claim:failed')
    bench.work(async () => 'done', { over, options: { limits: [slow] } })
    await failed
    expect(await bench.job(jobId)).toMatchObject({ status: 'waiting', attempt: 0, releases: 1 })
    expect((await bench.job(jobId))?.runAt).not.toBeNull()
  })

  it('RATE-1 a bucket that refuses a job does not make the others of its handler look empty', async () => {
    const fast = { key: 'all', ratePerS: 1, burst: 1 }
    const limiter = new TokenLimiter(bench.store, (type) => (type === 'asr' ? [slow, fast] : [slow]))
    const jobs = [{ type: 'asr', jobId: 'a', owner: null } as ClaimedJob]
    expect(await limiter.admit(jobs)).toMatchObject({ admitted: jobs })
    expect(await limiter.admit(jobs)).toMatchObject({ admitted: [] })
    const { jobs: allowed, retryInMs } = limiter.allowance('asr')
    expect(allowed).toBe(0)
    expect(retryInMs).toBeLessThanOrEqual(1_000)
    expect(limiter.allowance('other')).toEqual({ jobs: 1, retryInMs: 0 })
  })

  it('RATE-1 a limit that cannot be kept is refused by name', () => {
    expect(() => requireLimits('asr', [{ key: 'a', ratePerS: 0, burst: 1 }])).toThrow(
      /limits of asr: ratePerS/,
    )
    expect(() => requireLimits('asr', [{ key: 'a', ratePerS: 1, burst: 0.5 }])).toThrow(/burst/)
    expect(() => requireLimits('asr', [slow, slow])).toThrow(/each key once/)
  })
})

describe('release', () => {
  const hour = 3_600_000

  it('RATE-6 a handler gives its job back with a wait and a reason, and no attempt is spent', async () => {
    const [jobId = ''] = await bench.enqueue()
    const ended = bench.once('job:ended')
    bench.work(async (_, { release }) => release({ afterMs: hour, reason: 'the source is locked' }))
    expect(await ended).toMatchObject({ end: 'released', reason: 'the source is locked', retryInMs: hour })
    const job = await bench.job(jobId)
    expect(job).toMatchObject({ status: 'waiting', attempt: 0, failures: 0, releases: 1, error: null })
    expect(Number(job?.runAt) - Number(job?.updatedAt)).toBe(hour)
    const [event] = await bench.store.listEvents(jobId)
    expect(event).toMatchObject({ type: 'released', data: { details: { reason: 'the source is locked' } } })
  })

  it('RATE-6 it comes again after a second where nothing was said, as the cause of another error too', async () => {
    const [jobId = ''] = await bench.enqueue()
    const ended = bench.once('job:ended')
    bench.work(async (_, { release }) => {
      try {
        release()
      } catch (cause) {
        throw new Error('step 3', { cause })
      }
    })
    expect(await ended).toMatchObject({ end: 'released', retryInMs: 1_000 })
    expect(await bench.job(jobId)).toMatchObject({ attempt: 0, releases: 1 })
  })

  it('RATE-6 a handler that catches it goes on', async () => {
    const [jobId] = await bench.enqueue()
    bench.work(async (_, { release }) => {
      try {
        return release({ reason: 'the first provider is busy' })
      } catch {
        return 'from the second provider'
      }
    })
    await bench.untilStatus(jobId, 'succeeded')
    expect(await bench.job(jobId)).toMatchObject({ attempt: 1, releases: 0 })
  })

  it('RATE-6 a wait that is none is a mistake of the handler: its attempt fails', async () => {
    const [jobId] = await bench.enqueue()
    const ended = bench.once('job:ended')
    bench.work(async ({ attempt }, { release }) => (attempt === 1 ? release({ afterMs: Number.NaN }) : null))
    expect(await ended).toMatchObject({ end: 'retried', code: 'INVALID_ARGUMENT' })
    await bench.untilStatus(jobId, 'succeeded')
    expect(await bench.job(jobId)).toMatchObject({ attempt: 2, failures: 1 })
  })

  it('RATE-6 what a handler throws after its deadline is no release: it was too slow', async () => {
    await bench.store.writePolicy({ defaultDeadlineMs: 100 })
    const [jobId] = await bench.enqueue()
    const ended = bench.once('job:ended')
    bench.work(async (_, { release, signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      release({ afterMs: hour })
    })
    // On a busy machine the deadline has taken the lease too before the worker reports it.
    expect(['retried', 'lost']).toContain((await ended).end)
    expect(await bench.job(jobId)).toMatchObject({ releases: 0 })
  })

  it('RATE-6 with isLimited the dependency of the handler pauses for all workers', async () => {
    await bench.store.mapDependency('asr', 'gateway')
    await bench.enqueue()
    const changed = bench.once('breaker:changed')
    bench.work(async (_, { release }) => release({ afterMs: hour, isLimited: true }), {
      options: { dependency: 'gateway' },
    })
    expect(await changed).toMatchObject({ name: 'gateway', to: 'held', reason: 'limited' })
    const [breaker] = await bench.store.listBreakers()
    expect(breaker).toMatchObject({ state: 'held', failures: 0 })
    expect(breaker?.heldForMs).toBeGreaterThan(hour - 60_000)
    const [other] = await bench.enqueue()
    expect(await bench.store.claimJob(other ?? '', { workerId: 'worker-2' })).toBe('not-claimable')
  })

  it('RATE-6 without isLimited the other jobs of the dependency go on', async () => {
    await bench.store.mapDependency('asr', 'gateway')
    await bench.enqueue()
    const ended = bench.once('job:ended')
    const worker = bench.work(async (_, { release }) => release({ afterMs: hour }), {
      options: { dependency: 'gateway' },
    })
    await ended
    await worker.stop()
    expect(await bench.store.listBreakers()).toMatchObject([{ state: 'closed', calls: 0 }])
  })
})

describe('breaker', () => {
  const options = { dependency: 'gateway' }
  const settings = { windowCalls: 4, minCalls: 4, cooldownMs: 60_000 }
  beforeEach(async () => {
    await bench.store.writeBreaker('gateway', settings)
    await bench.store.mapDependency('asr', 'gateway')
  })

  it('BREAK-1 BREAK-2 failed attempts open it; what waits stays waiting with no attempt used, and it is said', async () => {
    const ids = await bench.enqueue(8)
    const changed = bench.once('breaker:changed')
    bench.work(() => Promise.reject(transientError('502', { code: 'GW_5XX', retryAfterMs: 3_600_000 })), {
      options,
    })
    expect(await changed).toMatchObject({
      name: 'gateway',
      from: 'closed',
      to: 'open',
      reason: 'calls-failed',
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    const jobs = await Promise.all(ids.map((jobId) => bench.job(jobId)))
    const untouched = jobs.filter((job) => job?.attempt === 0)
    expect(untouched.length).toBeGreaterThan(0)
    for (const job of jobs) expect(job?.status).toBe('waiting')
  })

  it('BREAK-1 what the caller did wrong opens nothing', async () => {
    const ids = await bench.enqueue(8)
    bench.work(() => Promise.reject(permanentError('400', { code: 'GW_4XX' })), { options })
    for (const jobId of ids) await bench.untilStatus(jobId, 'dead')
    expect((await bench.store.listBreakers())[0]).toMatchObject({ state: 'closed', failures: 0 })
  })

  const allFailed = Array.from({ length: 4 }, () => ({ isFailure: true }))
  const untilReleased = async (jobId: string | undefined) => {
    await expect.poll(() => bench.job(jobId), { timeout: 30_000 }).toMatchObject({ releases: 1 })
  }

  it('BREAK-3 RATE-5 a job that half-open let through and whose service still fails loses no attempt', async () => {
    await bench.store.recordCalls('gateway', allFailed)
    bench.store.elapse(60_001)
    const [jobId] = await bench.enqueue()
    const ended = bench.once('job:ended')
    bench.work(() => Promise.reject(transientError('502', { code: 'GW_5XX' })), { options })
    expect(await ended).toMatchObject({ end: 'released', code: 'GW_5XX', retryInMs: 1_000 })
    await untilReleased(jobId)
    expect(await bench.job(jobId)).toMatchObject({ status: 'waiting', attempt: 0, failures: 0 })
    expect((await bench.store.listBreakers())[0]).toMatchObject({ state: 'open', reopens: 1 })
  })

  it('BREAK-3 an attempt that failed otherwise gives its slot back, and costs what it costs', async () => {
    await bench.store.recordCalls('gateway', allFailed)
    bench.store.elapse(60_001)
    const [jobId] = await bench.enqueue()
    // The state of the breaker is known to a worker that watches it.
    bench.work(() => Promise.reject(transientError('no disk', { code: 'EIO', retryAfterMs: 3_600_000 })), {
      options,
      dependencies: [{ name: 'gateway' }],
    })
    await expect.poll(() => bench.job(jobId)).toMatchObject({ attempt: 1, failures: 1, releases: 0 })
    const read = async () => (await bench.store.listBreakers())[0]
    await expect.poll(read).toMatchObject({ state: 'half-open', probing: 0, successes: 0 })
  })

  it('BREAK-1 a handler whose failures never say whose fault they are is named, once', async () => {
    const warnings: string[] = []
    bench.events.on('config:warned', ({ warning }) => warnings.push(warning))
    const ids = await bench.enqueue(7)
    const gone = Object.assign(new Error('Request failed with status code 502'), { code: 'ERR_BAD_RESPONSE' })
    bench.work(() => Promise.reject(gone), { options, concurrency: 1 })
    for (const jobId of ids) await bench.untilStatus(jobId, 'dead')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(
      'handler asr depends on gateway, and its last 5 failures say nothing about it',
    )
    expect((await bench.store.listBreakers())[0]).toMatchObject({ state: 'closed', calls: 0 })
  })

  it('BREAK-1 failures with a code of the gateway, or of the job itself, name nobody', async () => {
    const warnings: string[] = []
    bench.events.on('config:warned', ({ warning }) => warnings.push(warning))
    const ids = await bench.enqueue(8)
    let nth = 0
    const codes = ['UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'GW_4XX']
    bench.work(() => Promise.reject(permanentError('no', { code: codes[nth++ % 4] ?? '' })), {
      options,
      concurrency: 1,
    })
    for (const jobId of ids) await bench.untilStatus(jobId, 'dead')
    expect(warnings).toEqual([])
  })

  it('BREAK-3 in mode half-open a health probe only lets the first job through the sooner', async () => {
    await bench.store.writeBreaker('gateway', { cooldownMs: 3_600_000, closeAfter: 2, probeIntervalMs: 10 })
    await bench.store.recordCalls('gateway', allFailed)
    const [jobId] = await bench.enqueue()
    let probes = 0
    bench.work(() => Promise.reject(transientError('502', { code: 'GW_5XX' })), {
      options,
      dependencies: [{ name: 'gateway', probe: async () => ++probes > 0 }],
    })
    await untilReleased(jobId)
    // The call has failed: no probe counts any more, and none is made.
    const seen = probes
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(probes).toBe(seen)
    const [breaker] = await bench.store.listBreakers()
    expect(breaker).toMatchObject({ state: 'open', reopens: 1, earlyProbeInMs: null })
    expect(await bench.job(jobId)).toMatchObject({ attempt: 0, failures: 0, releases: 1 })
  })

  it('BREAK-3 a health probe outside any job closes it, and the work goes on by itself', async () => {
    await bench.store.writeBreaker('gateway', {
      mode: 'hold',
      cooldownMs: 20,
      closeAfter: 2,
      probeIntervalMs: 10,
    })
    await bench.store.recordCalls('gateway', allFailed)
    const [jobId] = await bench.enqueue()
    let isHealthy = false
    let probes = 0
    bench.work(async () => 'done', {
      options,
      dependencies: [{ name: 'gateway', probe: async () => ++probes > 0 && isHealthy }],
    })
    await vi.waitFor(() => expect(probes).toBeGreaterThan(1), { timeout: 30_000 })
    expect(await bench.job(jobId)).toMatchObject({ status: 'waiting', attempt: 0 })
    isHealthy = true
    await bench.untilStatus(jobId, 'succeeded')
    expect(await bench.job(jobId)).toMatchObject({ attempt: 1, releases: 0 })
  })
})
