// A transition and its event are one: where the event cannot be written, nothing has happened (C8, I3).
import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import { enqueueOne, MINUTE, readJob, startDead, startOne } from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { type Race, raceBench } from '../race-bench.ts'

const opened = raceBench({
  policy: { events: 'all' },
  cleanUp: (pool) => pool.query('drop trigger if exists refuse_events on unstuck.events'),
})

/** As a full disk or a rule of the team would. */
async function refuseEvents({ pool }: Race): Promise<void> {
  await pool.query(`
    create or replace function public.refuse_event() returns trigger language plpgsql as
      $$ begin raise exception 'no room for events'; end $$;
    create trigger refuse_events before insert on unstuck.events execute function public.refuse_event()`)
}

const waiting = async ({ store }: Race) => ({ jobId: await enqueueOne(store), leaseId: '' })
const running = ({ store }: Race) => startOne(store)
const dead = async ({ store }: Race) => ({ jobId: await startDead(store), leaseId: '' })
const expired = async (race: Race) => {
  const lease = await startOne(race.store)
  await race.elapse(2 * MINUTE)
  return lease
}

interface Verb {
  verb: string
  start: (race: Race) => Promise<Lease>
  run: (store: JobStore, lease: Lease) => Promise<unknown>
}

const verbs: Verb[] = [
  { verb: 'claimJobs', start: waiting, run: (store) => store.claimJobs(request) },
  { verb: 'completeJobs', start: running, run: (store, lease) => store.completeJobs([lease]) },
  { verb: 'failJobs', start: running, run: (store, lease) => store.failJobs([lease]) },
  { verb: 'releaseJobs', start: running, run: (store, lease) => store.releaseJobs([lease]) },
  { verb: 'cancelJobs', start: waiting, run: (store, { jobId }) => store.cancelJobs([jobId]) },
  {
    verb: 'cancelJobs of a running job',
    start: running,
    run: (store, { jobId }) => store.cancelJobs([jobId]),
  },
  { verb: 'retryJobs', start: dead, run: (store, { jobId }) => store.retryJobs([jobId]) },
  { verb: 'sweepJobs', start: expired, run: (store) => store.sweepJobs() },
]
const request = { workerId: 'w1', queues: ['encode'], limit: 1 }

describe.each(verbs)('$verb', ({ start, run }) => {
  it('REAP-9 changes nothing where its event cannot be written', async () => {
    const race = opened()
    const lease = await start(race)
    const before = await readJob(race.store, lease.jobId)
    await refuseEvents(race)
    await expect(run(race.store, lease)).rejects.toThrow('no room for events')
    expect(await readJob(race.store, lease.jobId)).toEqual(before)
  })
})
