import { describe, expect, it } from 'vitest'
import { describeJobStore, type StoreHarness } from '../conformance/index.ts'
import { createMemoryStore, type MemoryStoreOptions } from './memory-store.ts'

function openMemory(options: MemoryStoreOptions): StoreHarness {
  let aheadMs = 0
  const store = createMemoryStore({ now: () => Date.now() + aheadMs, ...options })
  return {
    store,
    elapse: async (ms) => {
      aheadMs += ms
    },
    plantJob: async (fields) => store.plantJob(fields),
    hasTransactions: false,
    close: async () => undefined,
  }
}

describeJobStore('memory', async () => openMemory({}))
describeJobStore('memory, as of a team’s table,', async () => openMemory({ judgesWaiting: false }), {
  isTeams: true,
})

const request = { workerId: 'worker-1', queues: ['asr'], limit: 1 }

describe('options of the memory store', () => {
  it('FAIL-4 the jitter comes from the given random', async () => {
    const store = createMemoryStore({
      random: () => 0.5,
      policy: { failureBackoffStepsMs: [1_000], failureBackoffJitterMs: 400 },
    })
    await store.enqueueJobs([{ type: 'asr' }])
    expect(await store.failJobs(await store.claimJobs(request))).toMatchObject([{ retryInMs: 1_200 }])
  })

  it('LEASE-2 time is that of the given clock, and what has elapsed since', async () => {
    const store = createMemoryStore({ now: () => 1_000_000 })
    store.elapse(234)
    const [job] = await store.enqueueJobs([{ type: 'asr' }])
    expect((await store.getJob(job?.jobId ?? ''))?.createdAt).toEqual(new Date(1_000_234))
  })

  it('LEASE-2 the clock does not go back', () => {
    const store = createMemoryStore()
    expect(() => store.elapse(-1)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('LEASE-10 workers that are gone lose what they held when they vanished, and nothing they claimed since', async () => {
    const vanishedAt = new Map<string, number>()
    const store = createMemoryStore({
      now: () => 1_000_000,
      goneWorkers: () => vanishedAt,
      policy: { presence: 'auto' },
    })
    await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }])
    const [before] = await store.claimJobs(request)
    store.elapse(1_000)
    vanishedAt.set('worker-1', store.now())
    await store.claimJobs(request)
    const { reaped } = await store.sweepJobs({ reaper: { reaperId: 'reaper' } })
    expect(reaped).toMatchObject([{ jobId: before?.jobId, action: 'requeued', reason: 'worker_gone' }])
    const events = await store.listEvents(before?.jobId ?? '')
    expect(events.at(-1)?.data.details).toMatchObject({ cause: 'worker-gone' })
    expect(await store.getJob(before?.jobId ?? '')).toMatchObject({ crashes: 1, status: 'waiting' })
  })

  it('REAP-9 events name the given table', async () => {
    const store = createMemoryStore({ table: 'asr_jobs', policy: { events: 'all' } })
    const [job] = await store.enqueueJobs([{ type: 'asr' }])
    const [event] = await store.listEvents(job?.jobId ?? '')
    expect(event?.data.table).toBe('asr_jobs')
  })
})

describe('rows of the memory store', () => {
  it('WORK-7 what a caller does to its own objects changes no job', async () => {
    const store = createMemoryStore()
    const payload = { parts: ['a'] }
    const [job] = await store.enqueueJobs([{ type: 'asr', payload }])
    payload.parts.push('by the caller')
    const [claimed] = await store.claimJobs(request)
    Object.assign(claimed?.payload ?? {}, { parts: 'by the worker' })
    Object.assign((await store.getJob(job?.jobId ?? ''))?.payload ?? {}, { parts: 'by the reader' })
    expect((await store.getJob(job?.jobId ?? ''))?.payload).toEqual({ parts: ['a'] })
  })

  it('WORK-7 ids sort in the order of creation, also within a millisecond', async () => {
    const store = createMemoryStore({ now: () => 1_000_000 })
    const jobs = await store.enqueueJobs(Array.from({ length: 10_000 }, () => ({ type: 'asr' })))
    const jobIds = jobs.map(({ jobId }) => jobId)
    expect(jobIds).toEqual(jobIds.toSorted())
    expect(new Set(jobIds).size).toBe(10_000)
  })

  it('BREAK-1 a restored snapshot has the breakers of its time, with the jobs that they let through', async () => {
    const store = createMemoryStore()
    await store.mapDependency('asr', 'gateway')
    await store.writeBreaker('gateway', { minCalls: 1, cooldownMs: 0 })
    const restoreClosed = store.keep()
    await store.recordCalls('gateway', [{ isFailure: true }])
    const restoreOpen = store.keep()
    await store.enqueueJobs([{ type: 'asr' }])
    expect(await store.claimJobs(request)).toHaveLength(1)
    restoreOpen()
    expect(await store.listBreakers()).toMatchObject([{ state: 'half-open', probing: 0 }])
    restoreClosed()
    expect(await store.listBreakers()).toMatchObject([{ state: 'closed', calls: 0 }])
  })
})
