// Operators against workers: a job is read while its row is locked, or deleted while it is claimed.
import { describe, expect, it } from 'vitest'
import { explainJob } from '../../../src/policy/explain/explain-job.ts'
import {
  claimMany,
  enqueueOne,
  MINUTE,
  outcomeOf,
  readJob,
  SECOND,
  startDead,
  startOne,
} from '../../../src/store/conformance/builders.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench()

describe('explaining a job whose row is locked', () => {
  it('C13 names the session that holds an overdue job, and waits for nobody', async () => {
    const { store, connect, elapse } = opened()
    const holder = await connect()
    const { jobId } = await startOne(store, {}, { leaseMs: MINUTE })
    await elapse(MINUTE + SECOND)
    await holder.query("set application_name = 'psql of ana'")
    await holder.begin()
    await holder.query('update unstuck.jobs set priority = 1 where id = $1', [jobId])

    const facts = await store.readJobFacts(jobId)
    expect(facts).toMatchObject({
      isLocked: true,
      lockedBy: { pid: holder.pid, application: 'psql of ana', state: 'idle in transaction' },
    })
    if (facts === null) throw new Error('no facts')
    expect(explainJob(facts).reasons).toContainEqual(
      expect.objectContaining({ code: 'ROW_LOCKED', message: expect.stringContaining(`pid ${holder.pid}`) }),
    )
    await holder.rollback()
    expect(await store.readJobFacts(jobId)).toMatchObject({ isLocked: false, lockedBy: null })
  })

  it('C13 names a session that locked the row inside a savepoint', async () => {
    const { store, connect } = opened()
    const holder = await connect()
    const jobId = await enqueueOne(store)
    await holder.begin()
    await holder.query('savepoint one')
    await holder.query('select from unstuck.jobs where id = $1 for update', [jobId])
    expect(await store.readJobFacts(jobId)).toMatchObject({ isLocked: true, lockedBy: { pid: holder.pid } })
  })

  it('C13 says that it is locked and guesses nobody where several transactions share the row', async () => {
    const { store, connect } = opened()
    const [reader, writer] = [await connect(), await connect()]
    const jobId = await enqueueOne(store)
    await reader.begin()
    await reader.query('select from unstuck.jobs where id = $1 for key share', [jobId])
    await writer.begin()
    await writer.query('select from unstuck.jobs where id = $1 for no key update', [jobId])
    expect(await store.readJobFacts(jobId)).toMatchObject({ isLocked: true, lockedBy: null })
  })

  it('C13 a foreign key of an open transaction is no lock', async () => {
    const { store, connect } = opened()
    const reader = await connect()
    const jobId = await enqueueOne(store)
    await reader.begin()
    await reader.query('select from unstuck.jobs where id = $1 for key share', [jobId])
    expect(await store.readJobFacts(jobId)).toMatchObject({ isLocked: false })
  })

  it('OPS-9 a connection that may only read gets every other fact', async () => {
    const { store, connect } = opened()
    const reader = await connect()
    const jobId = await enqueueOne(store)
    await reader.query('begin read only')
    expect(await reader.store.readJobFacts(jobId)).toMatchObject({ status: 'waiting', isLocked: null })
    await reader.commit()
  })
})

describe('discarding a job that others want', () => {
  it('OPS-9 a job that was claimed meanwhile is running, and stays', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const jobId = await enqueueOne(store)
    await worker.begin()
    expect(await claimMany(worker.store)).toHaveLength(1)
    const late = await startBlocked(operator, worker, () => operator.store.discardJobs([jobId]))
    await worker.commit()
    expect(outcomeOf(await late.answer, jobId)).toBe('running')
    expect((await readJob(store, jobId)).status).toBe('running')
  })

  it('OPS-1 a retry that waited for the discard finds nothing', async () => {
    const { store, connect, startBlocked } = opened()
    const [cleaner, operator] = [await connect(), await connect()]
    const jobId = await startDead(store)
    await cleaner.begin()
    await cleaner.store.discardJobs([jobId])
    const late = await startBlocked(operator, cleaner, () => operator.store.retryJobs([jobId]))
    await cleaner.commit()
    expect(outcomeOf(await late.answer, jobId)).toBe('not-found')
    expect(await store.getJob(jobId)).toBeNull()
  })

  it.each(['discardJobs', 'cancelJobs'] as const)(
    'C21 a %s for a generation that was retried while it waited changes nothing',
    async (verb) => {
      const { store, connect, startBlocked } = opened()
      const [first, second] = [await connect(), await connect()]
      const jobId = await startDead(store)
      await first.begin()
      await first.store.retryJobs([jobId])
      const late = await startBlocked(second, first, async () => {
        const answers: { jobId: string; outcome: string }[] = await second.store[verb]([jobId], {
          generation: 1,
        })
        return answers
      })
      await first.commit()
      expect(outcomeOf(await late.answer, jobId)).toBe('generation-changed')
      expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
    },
  )

  it('OPS-9 a claim does not wait for a discard', async () => {
    const { store, connect } = opened()
    const cleaner = await connect()
    const jobId = await enqueueOne(store)
    await cleaner.begin()
    await cleaner.store.discardJobs([jobId])
    expect(await claimMany(store)).toEqual([])
    await cleaner.commit()
  })
})
