// Pruning beside whoever brings an ended job back.
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { claimOne, DAY, fail, readJob, startDead } from '../../../src/store/conformance/builders.ts'
import { whenBlocked } from '../../support/lock-wait.ts'
import { raceBench } from '../race-bench.ts'

const GATE = 4712

const opened = raceBench({ setUp: buildGate })

/** A delete waits here for the gate, with the rows that come later in its page seen and not yet locked. */
async function buildGate(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create function public.wait_at_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(${GATE});
      return old;
    end
    $$;
    create trigger gate before delete on unstuck.jobs for each row execute function public.wait_at_gate()`)
}

describe('pruning and a retry of one job', () => {
  it('OPS-1, OPS-2 a job whose retry is uncommitted is not pruned, and the pruning does not wait', async () => {
    const { store, elapse, connect } = opened()
    const [operator, pruner] = [await connect(), await connect()]
    const jobId = await startDead(store)
    await elapse(30 * DAY)

    await operator.begin()
    expect(await operator.store.retryJobs([jobId])).toMatchObject([{ outcome: 'retried' }])
    expect(await pruner.store.pruneJobs()).toMatchObject({ deleted: 0 })
    await operator.commit()

    expect(await pruner.store.pruneJobs()).toMatchObject({ deleted: 0 })
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
  })

  it('OPS-1, OPS-2 a retry that waited for the pruning finds no job', async () => {
    const { store, elapse, connect, startBlocked } = opened()
    const [operator, pruner] = [await connect(), await connect()]
    const jobId = await startDead(store)
    await elapse(30 * DAY)

    await pruner.begin()
    expect(await pruner.store.pruneJobs()).toMatchObject({ deleted: 1 })
    const late = await startBlocked(operator, pruner, () => operator.store.retryJobs([jobId]))
    await pruner.commit()

    expect(await late.answer).toEqual([{ jobId, outcome: 'not-found' }])
    expect(await store.getJob(jobId)).toBeNull()
  })

  it('OPS-2 a job that was retried and died again after the snapshot of a pruning is kept: it has just ended', async () => {
    const { store, elapse, connect, pool } = opened()
    const [operator, pruner, keeper] = [await connect(), await connect(), await connect()]
    const first = await startDead(store)
    const second = await startDead(store)
    await elapse(30 * DAY)
    // Rows are locked and deleted one by one only where the plan does not first collect them in a hash or a sort.
    await pruner.query('set enable_hashjoin = off; set enable_mergejoin = off')
    await keeper.query('select pg_advisory_lock($1)', [GATE])

    const pruning = pruner.store.pruneJobs()
    await whenBlocked(pool, pruner.pid)
    expect(await operator.store.retryJobs([second])).toMatchObject([{ outcome: 'retried' }])
    expect((await fail(store, await claimOne(store), { isRetryable: false })).outcome).toBe('dead')
    await keeper.query('select pg_advisory_unlock($1)', [GATE])

    expect(await pruning).toMatchObject({ deleted: 1 })
    expect(await store.getJob(first)).toBeNull()
    expect(await readJob(store, second)).toMatchObject({ status: 'dead', generation: 2 })
  })
})
