// A claim locks a row and updates it where it lies. A row that somebody updated meanwhile lies elsewhere, and a trigger may keep one.
import { expect, it } from 'vitest'
import { claimMany } from '../../../src/store/conformance/builders.ts'
import { raceBench } from '../race-bench.ts'

const LOCK = 4_711

/** The claim asks this of each job that has crashed before: here it waits for a lock that the test holds. */
const waiting = `
  create or replace function unstuck.is_last_chance(
    p_policy unstuck.policies, p_attempt int, p_failures int, p_crashes int, p_timeouts int, p_max_attempts int)
  returns boolean language plpgsql as $$
  begin
    perform pg_advisory_xact_lock_shared(${LOCK});
    return false;
  end $$`

const opened = raceBench({ setUp: (pool) => pool.query(waiting) })

it.each([
  { jobs: 'among others', count: 3 },
  { jobs: 'that waits alone', count: 1 },
])('LEASE-1 a job $jobs that its team updates while a claim is under way is claimed', async ({ count }) => {
  const race = opened()
  const enqueued = await race.store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'encode' })))
  const ids = enqueued.map(({ jobId }) => jobId)
  await race.pool.query('update unstuck.jobs set crashes = 1 where id = $1', [ids[0]])
  const [holder, claimer, team] = await race.connectMany(3)
  if (holder === undefined || claimer === undefined || team === undefined) throw new Error('no connections')

  await holder.query(`select pg_advisory_lock(${LOCK})`)
  const late = await race.startBlocked(claimer, holder, () => claimMany(claimer.store, { limit: 10 }))
  await team.query(`update unstuck.jobs set owner = 'mine' where id = $1`, [ids.at(-1)])
  await holder.query(`select pg_advisory_unlock(${LOCK})`)

  const claimed = await late.answer
  expect(claimed.map(({ jobId }) => jobId).toSorted()).toEqual(ids.toSorted())
  const running = await race.pool.query(`select id, fence::int from unstuck.jobs where status = 'running'`)
  expect(running.rows.map(({ fence }) => fence)).toEqual(ids.map(() => 1))
})

it('LEASE-1 jobs that a trigger of the table keeps from running stop neither the claim nor the others', async () => {
  const { pool, store } = opened()
  await pool.query(`
    create function public.keep_waiting() returns trigger language plpgsql as $$
    begin
      return case when new.owner = 'kept' and new.status = 'running' then null else new end;
    end $$;
    create trigger keep_waiting before update on unstuck.jobs
      for each row execute function public.keep_waiting()`)
  try {
    const enqueued = await store.enqueueJobs([
      { type: 'encode', owner: 'kept' },
      { type: 'encode' },
      { type: 'encode', queue: 'other', owner: 'kept' },
      { type: 'encode', priority: 9 },
    ])
    const [kept, second, , last] = enqueued.map(({ jobId }) => jobId)
    const claimed = await claimMany(store, { queues: ['encode', 'other'], limit: 10 })
    expect(claimed.map(({ jobId }) => jobId)).toEqual([second, last])
    expect(await store.claimJob(String(kept), { workerId: 'worker-1' })).toBe('not-claimable')
  } finally {
    await pool.query('drop trigger keep_waiting on unstuck.jobs; drop function public.keep_waiting()')
  }
})
