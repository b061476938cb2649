import { beforeEach, expect, it, vi } from 'vitest'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { createJobService, type JobService } from './job-service.ts'

let store: MemoryJobStore
let service: JobService

beforeEach(() => {
  store = createMemoryStore()
  service = createJobService(store)
})

async function enqueue(count: number): Promise<string[]> {
  const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
  return jobs.map(({ jobId }) => jobId)
}

async function claimed(workerId = 'worker-a', leaseSec = 60): Promise<string> {
  const [id = ''] = await enqueue(1)
  expect(await service.claimJob(id, workerId, leaseSec)).toMatchObject({ ok: true })
  return id
}

it('LEASE-2 claimJob takes one job by id with the lease it names, in seconds', async () => {
  const [id = ''] = await enqueue(1)
  expect(await service.claimJob(id, 'worker-a', 45)).toMatchObject({
    ok: true,
    value: { jobId: id, leaseMs: 45_000 },
  })
  expect(await store.getJob(id)).toMatchObject({ status: 'running', workerId: 'worker-a' })
})

it('LEASE-1 claimJob refuses a job that somebody has', async () => {
  const id = await claimed()
  const other = createJobService(store)
  expect(await other.claimJob(id, 'worker-b', 60)).toMatchObject({ ok: false, code: 'NOT_CLAIMABLE' })
})

it('LEASE-4 heartbeatJob extends the lease of its own worker only', async () => {
  const id = await claimed('worker-a', 60)
  store.elapse(50_000)
  expect(await service.heartbeatJob(id, 'worker-b', 60)).toMatchObject({ ok: false, code: 'LEASE_LOST' })
  expect(await service.heartbeatJob(id, 'worker-a', 60)).toEqual({ ok: true, value: 'kept' })
  store.elapse(50_000)
  expect((await service.reapJobs()).ok && (await store.getJob(id))?.status).toBe('running')
})

it('LEASE-5 heartbeatJob and finishJob say when the lease is lost', async () => {
  const id = await claimed('worker-a', 1)
  store.elapse(2_000)
  await service.reapJobs()
  expect(await service.heartbeatJob(id, 'worker-a', 60)).toMatchObject({ ok: false, code: 'LEASE_LOST' })
  expect(await service.finishJob(id, true)).toMatchObject({ ok: false, code: 'LEASE_LOST' })
})

it('FAIL-1 finishJob ends a job well, or with the code and reason it is given', async () => {
  const good = await claimed()
  expect(await service.finishJob(good, true)).toEqual({ ok: true, value: 'completed' })

  await store.writePolicy({ maxAttempts: 1 })
  const bad = await claimed()
  expect(await service.finishJob(bad, false, { code: 'IO_ERROR', reason: 'disk full' })).toEqual({
    ok: true,
    value: 'dead',
  })
  expect((await store.getJob(bad))?.error).toMatchObject({ code: 'IO_ERROR', reason: 'disk full' })
})

it('LEASE-6 releaseJobs gives back only what this process holds, and counts it', async () => {
  const ids = await enqueue(3)
  for (const id of ids.slice(0, 2)) await service.claimJob(id, 'worker-a', 60)
  const other = createJobService(store)
  await other.claimJob(ids[2] ?? '', 'worker-b', 60)
  expect(await service.releaseJobs(ids)).toBe(2)
  const statuses = await Promise.all(ids.map(async (id) => (await store.getJob(id))?.status))
  expect(statuses).toEqual(['waiting', 'waiting', 'running'])
})

it('LEASE-6 releaseJobs of nothing runs no query and answers 0', async () => {
  const release = vi.spyOn(store, 'releaseJobs')
  expect(await service.releaseJobs([])).toBe(0)
  expect(release).not.toHaveBeenCalled()
})

it('REAP-11 reapJobs answers the ids it requeued and the ids it ended', async () => {
  await store.writePolicy({ maxCrashes: 2 })
  const again = await claimed('worker-a', 1)
  const poison = store.plantJob({ type: 'asr', crashes: 1 })
  await service.claimJob(poison, 'worker-b', 1)
  store.elapse(2_000)
  expect(await service.reapJobs()).toEqual({ ok: true, value: { requeuedIds: [again], failedIds: [poison] } })
})

it('REAP-11 a broken store is a result with the code of the catalogue', async () => {
  expect(await service.claimJob((await enqueue(1))[0] ?? '', '', 60)).toMatchObject({
    ok: false,
    code: 'INVALID_ARGUMENT',
  })
})
