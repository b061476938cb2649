// Dispatchers that meet each other, and jobs that go back to waiting while somebody takes or ends their dispatch.
import { describe, expect, it } from 'vitest'
import { claimOne, complete, release, startMany, startOne } from '../../../src/store/conformance/builders.ts'
import type { TakenDispatch } from '../../../src/store/ports/dispatch-store.ts'
import { type Connection, isolationLevels, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench({ policy: { dispatch: 'requeued' } })

async function connectTwo({ connectMany }: Race): Promise<[Connection, Connection]> {
  const [first, second] = await connectMany(2)
  if (!first || !second) throw new Error('there are not two connections')
  return [first, second]
}

async function takeOne({ store }: Pick<Connection, 'store'>): Promise<TakenDispatch> {
  const [taken] = await store.takeDispatches()
  if (taken === undefined) throw new Error('nothing is to be published')
  return taken
}

describe('two dispatchers', () => {
  it('REAP-12 never have the same job at once', async () => {
    const race = opened()
    const jobs = await startMany(race.store, 500)
    await race.store.releaseJobs(jobs)
    const dispatchers = await race.connectMany(6)
    const taken = await Promise.all(
      dispatchers.map(async ({ store }) => {
        const mine: TakenDispatch[] = []
        for (let nth = 0; nth < 20; nth += 1) mine.push(...(await store.takeDispatches({ limit: 10 })))
        return mine
      }),
    )
    const ids = taken.flat().map(({ jobId }) => jobId)
    expect(ids).toHaveLength(500)
    expect(new Set(ids).size).toBe(500)
  })

  it.each(isolationLevels)(
    'REAP-12 at %s one does not wait for the other, nor takes its job',
    async (level) => {
      const race = opened()
      const [first, second] = await connectTwo(race)
      await release(race.store, await startOne(race.store))
      await second.begin(level)
      await second.query('select count(*) from unstuck.dispatches')
      await first.begin()
      expect(await first.store.takeDispatches()).toHaveLength(1)
      expect(await second.store.takeDispatches()).toEqual([])
      await first.commit()
      const late = await second.store.takeDispatches().catch((error: unknown) => error)
      if (Array.isArray(late)) expect(late).toEqual([])
      else expect(late).toMatchObject({ code: 'DATABASE_CONFLICT' })
      await second.rollback()
    },
  )
})

describe('a job that goes back to waiting', () => {
  it('REAP-12 is recorded again while its old record is being deleted, because the job was running', async () => {
    const race = opened()
    const [dispatcher, worker] = await connectTwo(race)
    await release(race.store, await startOne(race.store))
    const job = await claimOne(race.store)
    await dispatcher.begin()
    expect(await dispatcher.store.takeDispatches()).toEqual([])
    const released = await race.startBlocked(worker, dispatcher, () => release(worker.store, job))
    await dispatcher.commit()
    expect(await released.answer).toBe('released')
    expect((await takeOne(race)).jobId).toBe(job.jobId)
  })

  it('REAP-12 keeps the note that it is writing: a taking does not wait for it and deletes nothing', async () => {
    const race = opened()
    const [dispatcher, worker] = await connectTwo(race)
    await release(race.store, await startOne(race.store))
    const job = await claimOne(race.store)
    await worker.begin()
    await release(worker.store, job)
    expect(await dispatcher.store.takeDispatches()).toEqual([])
    await worker.commit()
    expect((await takeOne(dispatcher)).jobId).toBe(job.jobId)
  })

  it('REAP-12 is published again where its first publish ends while it goes back', async () => {
    const race = opened()
    const [dispatcher, worker] = await connectTwo(race)
    await release(race.store, await startOne(race.store))
    const early = await takeOne(dispatcher)
    const job = await claimOne(race.store)
    await worker.begin()
    await release(worker.store, job)
    expect(await dispatcher.store.finishDispatches([early])).toBe(0)
    await worker.commit()
    expect((await takeOne(dispatcher)).dispatchId).not.toBe(early.dispatchId)
  })

  it('REAP-12 has a note each time, though others take its notes all the while', async () => {
    const race = opened()
    const workers = await race.connectMany(3)
    const dispatchers = await race.connectMany(3)
    const over = new AbortController()
    const taking = dispatchers.map(async ({ store }) => {
      // A lease that is over at once, and no end: a note goes only if its job is taken for one that does not wait.
      while (!over.signal.aborted) await store.takeDispatches({ leaseMs: 1 })
    })
    const unnoted = workers.map(async ({ store, query }, nth) => {
      let count = 0
      const type = `own-${nth}`
      await startOne(store, { type }).then((job) => release(store, job))
      for (let round = 0; round < 150; round += 1) {
        const job = await claimOne(store, { queues: [type] })
        await release(store, job)
        const notes = await query('select from unstuck.dispatches where job_id = $1', [job.jobId])
        count += 1 - notes.length
      }
      return count
    })
    const counts = await Promise.all(unnoted)
    over.abort()
    await Promise.all(taking)
    expect(counts).toEqual([0, 0, 0])
  })

  it('REAP-12 leaves no note where its transaction is rolled back', async () => {
    const race = opened()
    const [worker] = await connectTwo(race)
    const job = await startOne(race.store)
    await worker.begin()
    await release(worker.store, job)
    await worker.rollback()
    expect(await race.store.countDispatches()).toBe(0)
    expect(await complete(race.store, job)).toBe('completed')
  })
})
