// Claims and reports that meet in the row of one breaker.
import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import { claimMany, enqueueMany, MINUTE, SECOND, TYPE } from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { isolationLevels, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench()
const failed = Array.from({ length: 20 }, () => ({ isFailure: true }))

async function openHalf({ store, elapse }: Race, probeSlots: number): Promise<void> {
  await store.mapDependency(TYPE, 'gateway')
  await store.writeBreaker('gateway', { cooldownMs: MINUTE, probeSlots })
  await store.recordCalls('gateway', failed)
  await elapse(MINUTE + SECOND)
}

async function claimRepeatedly(store: JobStore): Promise<ClaimedJob[]> {
  const claimed: ClaimedJob[] = []
  for (let nth = 0; nth < 6; nth += 1) claimed.push(...(await claimMany(store, { limit: 2 })))
  return claimed
}

describe('a half-open breaker', () => {
  it('BREAK-3 claims at once never get more jobs than it has slots', async () => {
    const race = opened()
    await openHalf(race, 3)
    await enqueueMany(race.store, 50)
    const connections = await race.connectMany(6)
    const claims = await Promise.all(connections.map(({ store }) => claimRepeatedly(store)))
    const claimed = claims.flat().length + (await claimMany(race.store)).length
    expect(claimed).toBe(3)
  })

  it('BREAK-3 a claim does not wait for a breaker that somebody else is at', async () => {
    const race = opened()
    const [holder, claimer] = await race.connectMany(2)
    if (!holder || !claimer) throw new Error('there are not two connections')
    await openHalf(race, 5)
    await race.store.enqueueJobs([{ type: TYPE }, { type: 'mail' }])
    await holder.begin()
    await holder.store.recordCalls('gateway', [])
    const claimed = await claimMany(claimer.store, { queues: [TYPE, 'mail'] })
    expect(claimed.map(({ type }) => type)).toEqual(['mail'])
    await holder.commit()
    expect(await claimMany(claimer.store)).toHaveLength(1)
  })

  it.each(isolationLevels)('BREAK-3 at %s an older snapshot gives no slot twice', async (isolation) => {
    const race = opened()
    const [early, late] = await race.connectMany(2)
    if (!early || !late) throw new Error('there are not two connections')
    await openHalf(race, 1)
    await race.store.mapDependency('mail', 'gateway')
    await race.store.enqueueJobs([{ type: TYPE }, { type: 'mail' }])
    await early.begin(isolation)
    await early.query('select count(*) from unstuck.probes')
    expect(await claimMany(late.store)).toHaveLength(1)
    // Another queue: not the rows of jobs tell the two claims of each other, but the breaker's alone.
    const claimed = await claimMany(early.store, { queues: ['mail'] }).catch((error: unknown) => error)
    if (Array.isArray(claimed)) expect(claimed).toEqual([])
    else expect(claimed).toMatchObject({ code: 'DATABASE_CONFLICT' })
    await early.rollback()
  })
})

describe('reports', () => {
  it('BREAK-4 calls that many workers report at once are all in the window', async () => {
    const { store, connectMany } = opened()
    const connections = await connectMany(4)
    await store.writeBreaker('gateway', { windowCalls: 1_000, minCalls: 1_000 })
    await Promise.all(
      connections.map(async (connection) => {
        for (let nth = 0; nth < 10; nth += 1) await connection.store.recordCalls('gateway', failed)
      }),
    )
    expect((await store.listBreakers())[0]).toMatchObject({ calls: 800, failures: 800, state: 'closed' })
  })

  it('BREAK-4 the first reports of a new dependency make one breaker', async () => {
    const { store, connectMany } = opened()
    const connections = await connectMany(4)
    await Promise.all(
      connections.map((connection) => connection.store.recordCalls('new', [{ isFailure: true }])),
    )
    expect(await store.listBreakers()).toMatchObject([{ name: 'new', calls: 4 }])
  })
})

describe('a breaker that is deleted', () => {
  it('BREAK-4 a queue that is bound meanwhile keeps it', async () => {
    const race = opened()
    const [binder, remover] = await race.connectMany(2)
    if (!binder || !remover) throw new Error('there are not two connections')
    await race.store.writeBreaker('gateway', { mode: 'hold' })
    await binder.begin()
    await binder.store.mapDependency(TYPE, 'gateway')
    const deleted = await race.startBlocked(remover, binder, () => remover.store.deleteBreaker('gateway'))
    await binder.commit()
    expect(await deleted.answer).toBe('in-use')
    expect(await race.store.listBreakers()).toMatchObject([{ settings: { mode: 'hold' } }])
  })

  it('BREAK-4 a queue that comes too late is bound to a new one', async () => {
    const race = opened()
    const [binder, remover] = await race.connectMany(2)
    if (!binder || !remover) throw new Error('there are not two connections')
    await race.store.writeBreaker('gateway', { mode: 'hold' })
    await remover.begin()
    expect(await remover.store.deleteBreaker('gateway')).toBe('deleted')
    const bound = await race.startBlocked(binder, remover, () => binder.store.mapDependency(TYPE, 'gateway'))
    await remover.commit()
    expect(await bound.answer).toBe(true)
    expect(await race.store.listBreakers()).toMatchObject([
      { settings: { mode: 'half-open' }, queues: [{ queue: TYPE }] },
    ])
  })
})
