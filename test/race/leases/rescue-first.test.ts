// A sweep commits the jobs it takes back before it does the rest of its work, which may have to wait: here for the row of
// its own pulse.
import { expect, it } from 'vitest'
import { startReaper } from '../../../src/runtime/services/reaper.ts'
import { HOUR, MINUTE, readJob, SECOND, startOne } from '../../../src/store/conformance/builders.ts'
import { type Connection, raceBench } from '../race-bench.ts'

const opened = raceBench({ policy: { reapBackoffStepsMs: [HOUR] } })

/** Runs a sweep of one lost job that cannot leave its pulse, and answers the job's status while it waits. */
async function statusBeforePulse(sweep: (sweeper: Connection) => Promise<unknown>): Promise<string> {
  const { store, elapse, connectMany, startBlocked } = opened()
  const [sweeper, holder] = (await connectMany(2)) as [Connection, Connection]
  const { jobId } = await startOne(store)
  await elapse(MINUTE + SECOND)
  await holder.begin()
  await holder.query('lock table unstuck.sweeps in exclusive mode')
  const { answer } = await startBlocked(sweeper, holder, () => sweep(sweeper))
  const { status } = await readJob(store, jobId)
  await holder.rollback()
  await answer
  return status
}

it('REAP-17 CALL run_sweep commits reaped jobs before the rest of the sweep', async () => {
  const status = await statusBeforePulse(({ query }) => query('call unstuck.run_sweep()'))
  expect(status).toBe('waiting')
  expect(await opened().store.readHealth()).toMatchObject({ running: 0, waiting: 1 })
})

it('REAP-17 a reaper commits reaped jobs before the rest of the sweep', async () => {
  const status = await statusBeforePulse(
    ({ store }) =>
      new Promise((resolve, reject) => {
        const reaper = startReaper({
          tables: [{ name: 'jobs', store }],
          intervalMs: HOUR,
          onSweep: (_, report) => resolve(reaper.stop().then(() => report)),
          onError: (_, error) => reject(new Error('the sweep failed', { cause: error })),
        })
      }),
  )
  expect(status).toBe('waiting')
})
