import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import type { JobStore, SweepRequest, SweepStep } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { type Reaper, startReaper } from './reaper.ts'
import type { SweepReport } from './run-sweep.ts'

let store: MemoryJobStore
let reaper: Reaper | undefined
let reports: SweepReport[]
let errors: unknown[]

beforeEach(() => {
  vi.useFakeTimers({ now: Date.now() })
  store = createMemoryStore({ policy: { defaultLeaseMs: 2_000, requeueRatePerS: 0 } })
  reports = []
  errors = []
})

afterEach(async () => {
  await reaper?.stop()
  reaper = undefined
  vi.useRealTimers()
})

function start(over: JobStore = store, intervalMs = 60_000): void {
  reaper = startReaper({
    tables: [{ name: 'jobs', store: over }],
    intervalMs,
    onSweep: (_, report) => reports.push(report),
    onError: (_, error) => errors.push(error),
  })
}

async function loseJobs(count: number): Promise<void> {
  await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
  await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: count })
  store.elapse(3_000)
}

/** The real store, with some of its sweeps answered otherwise. */
function withSweeps(sweep: (request: SweepRequest, real: JobStore) => Promise<SweepStep>): JobStore {
  return new Proxy(store, {
    get: (target, name, receiver) =>
      name === 'sweepJobs'
        ? (request: SweepRequest) => sweep(request, target)
        : Reflect.get(target, name, receiver),
  })
}

it('REAP-6 sweeps once at start and then at every interval', async () => {
  await loseJobs(1)
  start()
  await vi.advanceTimersByTimeAsync(0)
  expect(reports.map(({ requeuedIds }) => requeuedIds.length)).toEqual([1])

  await vi.advanceTimersByTimeAsync(60_000)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(reports).toHaveLength(3)
})

it('REAP-6 tells how many jobs it recovered, over all batches of a sweep', async () => {
  await loseJobs(2_500)
  start()
  await vi.advanceTimersByTimeAsync(0)
  expect(reports[0]?.requeuedIds).toHaveLength(2_500)
  expect(new Set(reports[0]?.requeuedIds).size).toBe(2_500)
})

const countingWith = (countTrends: () => Promise<void>): JobStore =>
  new Proxy(store, {
    get: (target, name, receiver) => {
      if (name === 'lacks') return new Set()
      return name === 'countTrends' ? countTrends : Reflect.get(target, name, receiver)
    },
  })

it('SEE-5 a sweep whose trends cannot be counted has not failed', async () => {
  const uncounted: unknown[] = []
  reaper = startReaper({
    tables: [
      {
        name: 'jobs',
        store: countingWith(() => Promise.reject(new Error('permission denied for table trends'))),
      },
    ],
    intervalMs: 60_000,
    onSweep: (_, report) => reports.push(report),
    onError: (_, error) => errors.push(error),
    onUncounted: (_, error) => uncounted.push(error),
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(reports).toHaveLength(1)
  expect(errors).toEqual([])
  expect(uncounted).toHaveLength(1)
})

it('SEE-7 each minute is counted by the first sweep after its end, and not again', async () => {
  vi.setSystemTime('2026-05-12T14:03:45Z')
  const counted: string[] = []
  const noting = async () => void counted.push(new Date().toISOString().slice(14, 19))
  start(countingWith(noting), 10_000)
  await vi.advanceTimersByTimeAsync(140_000)
  expect(counted).toEqual(['03:45', '04:05', '05:05', '06:05'])
})

it('REAP-6 never has two sweeps under way', async () => {
  let running = 0
  let most = 0
  const slow = withSweeps(async (request, real) => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 150_000))
    running--
    return real.sweepJobs(request)
  })
  start(slow, 60_000)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(most).toBe(1)
  expect(reports.length).toBeGreaterThanOrEqual(2)
})

it('REAP-6 sweeps again at the next interval after a sweep that failed for good', async () => {
  let calls = 0
  const broken = withSweeps((request, real) => {
    if (++calls === 1) return Promise.reject(new Error('a bug'))
    return real.sweepJobs(request)
  })
  start(broken)
  await vi.advanceTimersByTimeAsync(0)
  expect(errors).toHaveLength(1)
  expect(calls).toBe(1)

  await vi.advanceTimersByTimeAsync(60_000)
  expect(reports).toHaveLength(1)
})

it('REAP-7 tries a sweep again shortly after a transient error of the database', async () => {
  let calls = 0
  const flaky = withSweeps((request, real) => {
    if (++calls <= 2) return Promise.reject(new UnstuckError('DATABASE_CONFLICT', 'deadlock detected'))
    return real.sweepJobs(request)
  })
  start(flaky)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(errors).toEqual([])
  expect(reports).toHaveLength(1)
})

it('REAP-7 gives up a sweep after a few tries and reports it', async () => {
  const down = withSweeps(() =>
    Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'connection refused')),
  )
  start(down)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(errors).toHaveLength(1)
  expect(reports).toHaveLength(0)
})

it('C9 holds leases that ended while its own sweeps were failing', async () => {
  let isDown = false
  const outage = withSweeps((request, real) =>
    isDown
      ? Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'connection refused'))
      : real.sweepJobs(request),
  )
  await store.enqueueJobs([{ type: 'asr' }])
  await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })
  start(outage, 1_000)
  await vi.advanceTimersByTimeAsync(0)

  isDown = true
  await vi.advanceTimersByTimeAsync(8_000)
  isDown = false
  await vi.advanceTimersByTimeAsync(1_500)
  const back = reports.at(-1)
  expect(back).toMatchObject({ held: 1, holdReason: 'sweeps-failed', requeuedIds: [] })

  await vi.advanceTimersByTimeAsync(5_000)
  expect(reports.flatMap(({ requeuedIds }) => requeuedIds)).toHaveLength(1)
})

it('REAP-6 ends the sweep that is under way before it stops', async () => {
  let isDone = false
  const slow = withSweeps(async (request, real) => {
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    isDone = true
    return real.sweepJobs(request)
  })
  start(slow)
  await vi.advanceTimersByTimeAsync(100)
  const stopped = reaper?.stop()
  await vi.advanceTimersByTimeAsync(5_000)
  await stopped
  expect(isDone).toBe(true)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(reports).toHaveLength(1)
})

it('C9 a sweep that took long is no step of the clock: the next one holds nothing for it', async () => {
  let sweeps = 0
  start(
    withSweeps(async (request, real) => {
      const step = await real.sweepJobs(request)
      if (++sweeps === 1) await new Promise((resolve) => setTimeout(resolve, 6_500))
      return step
    }),
    2_000,
  )
  await store.enqueueJobs([{ type: 'asr' }])
  await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1, leaseMs: 5_000 })
  await vi.advanceTimersByTimeAsync(9_000)
  expect(reports.map(({ holdReason, requeuedIds }) => [holdReason, requeuedIds.length])).toEqual([
    [null, 0],
    [null, 1],
  ])
})

describe('beside another reaper', () => {
  const interval = 10_000
  let standBys: number
  let rival: Reaper
  let presence: { gone: () => void; watches: number }

  beforeEach(async () => {
    standBys = 0
    presence = { gone: () => {}, watches: 0 }
    rival = startReaper({ tables: [{ name: 'jobs', store }], intervalMs: interval, reaperId: 'rival' })
    await vi.advanceTimersByTimeAsync(500)
    reaper = startReaper({
      tables: [
        {
          name: 'jobs',
          store,
          presence: {
            onGone: (listener) => {
              presence.gone = listener
            },
            watch: () => presence.watches++,
          },
        },
      ],
      intervalMs: interval,
      reaperId: 'second',
      onSweep: (_, report) => reports.push(report),
      onStandBy: () => standBys++,
    })
    await vi.advanceTimersByTimeAsync(0)
  })
  afterEach(() => rival.stop())

  const lastReaper = async () => (await store.listSweeps()).last?.reaperId
  const report = (isWatched = true) => ({
    isSweepDue: false,
    isWatched,
    reportedAt: new Date().toISOString(),
    askedAtMs: performance.now(),
  })

  it('REAP-17 its own first sweep happens, and then it stands by', async () => {
    expect(reports).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(5 * interval)
    expect({ sweeps: reports.length, standBys }).toEqual({ sweeps: 1, standBys: 1 })
  })

  it('REAP-17 it takes over at the next interval after the other one is gone', async () => {
    await vi.advanceTimersByTimeAsync(interval)
    await rival.stop()
    await loseJobs(1)
    await vi.advanceTimersByTimeAsync(2 * interval)
    expect(await lastReaper()).toBe('second')
    expect(reports.flatMap(({ requeuedIds }) => requeuedIds)).toHaveLength(1)
  })

  it('REAP-17 the reports of its worker save it the question, until one says that a sweep is due', async () => {
    await vi.advanceTimersByTimeAsync(interval)
    const asked = vi.spyOn(store, 'sweepJobs')
    for (let nth = 0; nth < 6; nth++) {
      reaper?.note(report())
      await vi.advanceTimersByTimeAsync(interval)
    }
    expect(asked.mock.calls.filter(([request]) => request?.reaper?.reaperId === 'second')).toEqual([])
    await rival.stop()
    await vi.advanceTimersByTimeAsync(interval)
    reaper?.note({ ...report(), isSweepDue: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(await lastReaper()).toBe('second')
  })

  it('LEASE-10 a gone worker is swept for at once, however recent the last sweep is', async () => {
    await vi.advanceTimersByTimeAsync(interval)
    presence.gone()
    await vi.advanceTimersByTimeAsync(0)
    expect(reports).toHaveLength(2)
  })

  it('LEASE-10 it watches for gone workers if too few do', async () => {
    await vi.advanceTimersByTimeAsync(interval)
    reaper?.note(report())
    expect(presence.watches).toBe(0)
    reaper?.note(report(false))
    expect(presence.watches).toBe(1)
  })

  it('C9 what ended between the last sweep and a report that stood in for one still counts as a mass', async () => {
    await vi.advanceTimersByTimeAsync(interval)
    await rival.stop()
    await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }])
    for (const workerId of ['a', 'b']) await store.claimJobs({ workerId, queues: ['asr'], limit: 1 })
    await vi.advanceTimersByTimeAsync(3_000)
    reaper?.note(report())
    await vi.advanceTimersByTimeAsync(3 * interval)
    expect(reports.map(({ holdReason }) => holdReason)).toContain('mass-expiry')
  })
})
