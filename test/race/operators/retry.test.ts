// Manual retries against each other: a double click, another owner, another job with the same dedupe key.
import { describe, expect, it } from 'vitest'
import {
  claimMany,
  eventsOf,
  outcomeOf,
  readJob,
  startDead,
} from '../../../src/store/conformance/builders.ts'
import type { RetryOptions } from '../../../src/store/job-store.ts'
import type { SqlClient } from '../../../src/store/postgres/connection/executor.ts'
import { type Connection, raceBench } from '../race-bench.ts'

const opened = raceBench()

async function retry(
  { store }: Connection,
  jobId: string,
  options: RetryOptions<SqlClient> = {},
): Promise<string> {
  return outcomeOf(await store.retryJobs([jobId], options), jobId)
}

describe('two retries of one job', () => {
  it('OPS-1 a double click with one generation retries once: the second answers generation-changed', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]
    const jobId = await startDead(store)

    await first.begin()
    expect(await retry(first, jobId, { generation: 1 })).toBe('retried')
    const late = await startBlocked(second, first, () => retry(second, jobId, { generation: 1 }))
    await first.commit()

    expect(await late.answer).toBe('generation-changed')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
    expect(await eventsOf(store, jobId, 'queued')).toHaveLength(1)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('OPS-1 without a generation the second finds a job that is no longer dead', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]
    const jobId = await startDead(store)

    await first.begin()
    expect(await retry(first, jobId)).toBe('retried')
    const late = await startBlocked(second, first, () => retry(second, jobId))
    await first.commit()

    expect(await late.answer).toBe('not-dead')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
  })

  it('OPS-1 where the first is rolled back, the second retries', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]
    const jobId = await startDead(store)

    await first.begin()
    expect(await retry(first, jobId, { generation: 1 })).toBe('retried')
    const late = await startBlocked(second, first, () => retry(second, jobId, { generation: 1 }))
    await first.rollback()

    expect(await late.answer).toBe('retried')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
    expect(await eventsOf(store, jobId, 'queued')).toHaveLength(1)
  })

  it('OPS-1 ten clicks at once bring the job back once', async () => {
    const { store, connectMany } = opened()
    const clicks = await connectMany(10)
    const jobId = await startDead(store)

    const outcomes = await Promise.all(clicks.map((click) => retry(click, jobId, { generation: 1 })))

    expect(outcomes.toSorted()).toEqual([...Array(9).fill('generation-changed'), 'retried'])
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
  })
})

describe('retries by others', () => {
  it('OPS-1 a retry by another owner finds no job, does not wait for it and changes nothing', async () => {
    const { store, connect } = opened()
    const [owner, stranger] = [await connect(), await connect()]
    const jobId = await startDead(store, { owner: 'ann' })

    await owner.begin()
    expect(await retry(owner, jobId, { owner: 'ann', generation: 1 })).toBe('retried')
    expect(await retry(stranger, jobId, { owner: 'bob', generation: 1 })).toBe('not-found')
    await owner.rollback()

    expect(await retry(stranger, jobId, { owner: 'bob' })).toBe('not-found')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'dead', generation: 1 })
    expect(await eventsOf(store, jobId, 'queued')).toEqual([])
  })

  it('OPS-1 a retry that waited while the job was given to another owner changes nothing', async () => {
    const { store, connect, startBlocked } = opened()
    const [hand, former] = [await connect(), await connect()]
    const jobId = await startDead(store, { owner: 'ann' })

    await hand.begin()
    await hand.query("update unstuck.jobs set owner = 'bob' where id = $1", [jobId])
    const late = await startBlocked(former, hand, () => retry(former, jobId, { owner: 'ann' }))
    await hand.commit()

    expect(await late.answer).toBe('not-found')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'dead', generation: 1, owner: 'bob' })
  })
})

describe('retries of jobs that share a dedupe key', () => {
  it('OPS-1, WORK-7 of two jobs with one key, retried at once, one comes back and the other answers duplicate', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]
    const one = await startDead(store, { dedupeKey: 'invoice-1' })
    const other = await startDead(store, { dedupeKey: 'invoice-1' })

    await first.begin()
    expect(await retry(first, one)).toBe('retried')
    const late = await startBlocked(second, first, () => retry(second, other))
    await first.commit()

    expect(await late.answer).toBe('duplicate')
    expect(await readJob(store, one)).toMatchObject({ status: 'waiting' })
    expect(await readJob(store, other)).toMatchObject({ status: 'dead', generation: 1 })
  })

  it('OPS-1, WORK-7 a retry that waited for an enqueue with its key answers duplicate', async () => {
    const { store, connect, startBlocked } = opened()
    const [user, operator] = [await connect(), await connect()]
    const dead = await startDead(store, { dedupeKey: 'invoice-1' })

    await user.begin()
    expect(await user.store.enqueueJobs([{ type: 'encode', dedupeKey: 'invoice-1' }])).toMatchObject([
      { outcome: 'created' },
    ])
    const late = await startBlocked(operator, user, () => retry(operator, dead))
    await user.commit()

    expect(await late.answer).toBe('duplicate')
    expect(await readJob(store, dead)).toMatchObject({ status: 'dead', generation: 1 })
  })

  it('OPS-1, WORK-7 one retry of two jobs with one key brings one of them back', async () => {
    const { store } = opened()
    const one = await startDead(store, { dedupeKey: 'invoice-1' })
    const other = await startDead(store, { dedupeKey: 'invoice-1' })

    const answers = await store.retryJobs([one, other])
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['duplicate', 'retried'])
  })
})
