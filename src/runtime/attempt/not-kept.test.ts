import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { UnstuckError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { JobContext } from './handler.ts'

let bench: MemoryWorkerBench
beforeEach(() => {
  bench = new MemoryWorkerBench()
})
afterEach(() => bench.stop())

it('LEASE-12 OPS-8 the settings of a process decide whether its completions keep the row', async () => {
  const [jobId = ''] = await bench.enqueue()
  const ended = bench.once('job:ended')
  bench.work(async () => {}, { policy: { typeKeepCompleted: { asr: false } } })
  expect(await ended).toMatchObject({ end: 'completed' })
  expect(await bench.store.getJob(jobId)).toBeNull()
})

it('LEASE-12 a heartbeat that finds no row while a completion is under way aborts nothing', async () => {
  await bench.store.writePolicy({ keepCompleted: false })
  const [jobId = ''] = await bench.enqueue()
  const aborted = vi.fn()
  bench.events.on('job:aborted', aborted)
  let beats = 0
  bench.events.on('heartbeat:sent', () => beats++)
  const slow = bench.withVerb('completeJobs', (completeJobs) => async (completions, options) => {
    const answers = await completeJobs(completions, options)
    const before = beats
    await vi.waitFor(() => expect(beats).toBeGreaterThan(before + 1), { timeout: 30_000 })
    return answers
  })
  const ended = bench.once('job:ended')
  bench.work(async () => {}, { over: slow })
  expect(await ended).toMatchObject({ end: 'completed' })
  expect(aborted).not.toHaveBeenCalled()
  expect(await bench.store.getJob(jobId)).toBeNull()
})

it('C3 LEASE-12 a row that was gone before the first completion is a lost lease, not an unknown outcome', async () => {
  const [jobId = ''] = await bench.enqueue()
  const ended = bench.once('job:ended')
  bench.work(async (job) => {
    await bench.store.releaseJobs([job])
    await bench.store.discardJobs([jobId])
  })
  expect(await ended).toMatchObject({ end: 'lost' })
})

it('C2 LEASE-12 a lease that was lost while an answer was, too, is reported as lost: the row is still there', async () => {
  const [jobId = ''] = await bench.enqueue()
  let isFirst = true
  const flaky = bench.withVerb('completeJobs', (completeJobs) => async (completions, options) => {
    if (!isFirst) return completeJobs(completions, options)
    isFirst = false
    await bench.store.releaseJobs(completions, { delayMs: 60_000 })
    throw new UnstuckError('DATABASE_UNREACHABLE', 'the connection was lost')
  })
  const ended = bench.once('job:ended')
  bench.work(async () => {}, { over: flaky })
  expect(await ended).toMatchObject({ end: 'lost' })
  expect((await bench.job(jobId))?.status).toBe('waiting')
})

it('C2 LEASE-4 a job whose lease is lost asks for no extension before a transaction', async () => {
  await bench.enqueue()
  const extensions = vi.fn()
  const watched = bench.withVerb('heartbeatJobs', (heartbeatJobs) => (leases, options) => {
    if (options?.leaseMs !== undefined) extensions()
    return heartbeatJobs(leases, options)
  })
  const ended = bench.once('job:ended')
  let failure: unknown
  const work = async (job: ClaimedJob, { signal, tx }: JobContext) => {
    await bench.store.releaseJobs([job])
    await bench.store.discardJobs([job.jobId])
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await tx(async () => null).catch((error: unknown) => (failure = error))
  }
  bench.work(work, { over: watched })
  expect(await ended).toMatchObject({ end: 'lost' })
  expect(failure).toMatchObject({ code: 'LEASE_LOST' })
  expect(extensions).not.toHaveBeenCalled()
})
