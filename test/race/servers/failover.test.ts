// A replica is promoted without the last commits: two workers then hold leases of one job with the same fence and attempt, and
// only the random id tells them apart (C1).
import { describe, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import {
  beat,
  claimOne,
  complete,
  enqueueOne,
  fail,
  leaseOf,
  readJob,
  release,
} from '../../../src/store/conformance/builders.ts'
import { createReplica } from '../../support/replica.ts'
import { type Race, raceBench } from '../race-bench.ts'

const opened = raceBench()
const [table] = nativeProfile('unstuck').tables

/** Ann's claim is lost in the failover, and Bob claims the same job again. */
async function loseAClaim({ store, pool }: Race) {
  await enqueueOne(store)
  const replica = await createReplica(pool, table, 'unstuck')
  const ann = await claimOne(store, { workerId: 'ann' })
  await replica.promote()
  const bob = await claimOne(store, { workerId: 'bob' })
  expect(bob).toMatchObject({ jobId: ann.jobId, fence: ann.fence, attempt: ann.attempt })
  return { ann: leaseOf(ann), bob: leaseOf(bob) }
}

describe('a claim that a failover has lost', () => {
  it.each([
    ['a beat', beat, 'lost'],
    ['a completion', complete, 'lease-lost'],
    [
      'a failure',
      async (...call: Parameters<typeof complete>) => (await fail(...call)).outcome,
      'lease-lost',
    ],
    ['a release', release, 'lease-lost'],
  ])('LEASE-5 %s under it is refused, and the next holder goes on', async (_, write, refusal) => {
    const race = opened()
    const { ann, bob } = await loseAClaim(race)
    expect(await write(race.store, ann)).toBe(refusal)
    expect(await readJob(race.store, bob.jobId)).toMatchObject({ status: 'running', workerId: 'bob' })
    expect(await complete(race.store, bob)).toBe('completed')
  })
})

describe('a completion that a failover has lost', () => {
  it('LEASE-5 WORK-5 is made again by its worker, who still holds the lease', async () => {
    const { store, pool } = opened()
    await enqueueOne(store)
    const lease = leaseOf(await claimOne(store))
    const replica = await createReplica(pool, table, 'unstuck')
    expect(await complete(store, lease)).toBe('completed')
    await replica.promote()
    expect(await complete(store, lease)).toBe('completed')
    expect(await complete(store, lease)).toBe('already-done')
  })
})
