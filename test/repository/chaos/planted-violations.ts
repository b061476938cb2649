// One violation of each invariant, planted into a clean history.
import type { History } from '../../../chaos/src/judge/history.ts'
import { eventOf, iso, jobOf, T0 } from './clean-history.ts'

export const planted: Record<string, { what: string; plant: (history: History) => void }> = {
  I1: {
    what: 'a second completion',
    plant: (history) => history.events.push({ ...eventOf(history, 5), id: '24', at: T0 + 3_500 }),
  },
  I2: {
    what: 'a completion that was accepted from the lease that had been taken away',
    plant: (history) => {
      history.ledger.push({
        kind: 'answered',
        at: T0 + 3_350,
        worker: 'w1-1',
        pid: 1,
        job: 'a',
        lease: 'l1',
        verb: 'completeJobs',
        outcome: 'completed',
      })
    },
  },
  I3: {
    what: 'a row that moved without an event',
    plant: (history) => {
      jobOf(history, 'b').status = 'succeeded'
    },
  },
  I4: {
    what: 'a claim of a job that was running',
    plant: (history) => {
      eventOf(history, 8).type = 'processing'
      eventOf(history, 8).details = { lease_id: 'p9', fence: 2, worker_id: 'w1-1' }
    },
  },
  I5: {
    what: 'a lease id that was granted twice',
    plant: (history) => {
      eventOf(history, 9).details['lease_id'] = 'p1'
    },
  },
  I6: {
    what: 'an effect of a transaction that is there twice',
    plant: (history) => history.txEffects.push({ jobId: 'c', leaseId: 't1' }),
  },
  I7: {
    what: 'an acknowledged job that is gone',
    plant: (history) => history.enqueuedIds.push('lost'),
  },
  I8: {
    what: 'a job that still waits after the end',
    plant: (history) => {
      jobOf(history, 'a').status = 'waiting'
    },
  },
  I9: {
    what: 'an attempt that nobody made',
    plant: (history) => {
      jobOf(history, 'a').attempt = 3
    },
  },
  I10: {
    what: 'a reap before the lease had ended',
    plant: (history) => {
      eventOf(history, 3).details['lease_expires_at'] = iso(T0 + 3_100)
    },
  },
  I11: {
    what: 'a claim before its time',
    plant: (history) => {
      eventOf(history, 9).at = T0 + 390
    },
  },
  I12: {
    what: 'a poison job that ended with a failure too many',
    plant: (history) => {
      jobOf(history, 'b').failures = 4
    },
  },
  I13: {
    what: 'two processes that ran one lease',
    plant: (history) =>
      history.ledger.push({ kind: 'started', at: T0 + 3_320, worker: 'w1-1', pid: 2, job: 'a', lease: 'l2' }),
  },
  I15: {
    what: 'a finished job that kept its lease',
    plant: (history) => {
      jobOf(history, 'a').leaseId = 'l2'
    },
  },
  I16: {
    what: 'a lease that was over for longer than sweeps and hold allow',
    plant: (history) => history.samples.push({ at: T0 + 20_000, mismatched: 0, overdueMs: 5_001 }),
  },
  I17: {
    what: 'an act of another owner that was carried out',
    plant: (history) => history.intrusions.push({ act: 'cancel', outcome: 'cancelled' }),
  },
  I18: {
    what: 'two rows in the outbox for one event',
    plant: (history) => {
      const [delivery] = history.deliveries
      if (delivery !== undefined) delivery.count = 2
    },
  },
  I19: {
    what: 'a job that was taken from a worker with which nothing was wrong',
    plant: (history) => history.disturbances.splice(0),
  },
  I20: {
    what: 'a job that is dead with budget left',
    plant: (history) => {
      jobOf(history, 'b').maxAttempts = 5
    },
  },
  I21: {
    what: 'two jobs of a group that ran at once, at most one',
    plant: (history) => moveEvent(history, 21, 23),
  },
  I22: {
    what: 'a job of an ordered group that was claimed while an earlier one waited for its retry',
    plant: (history) => {
      moveEvent(history, 22, 19)
      moveEvent(history, 23, 22)
    },
  },
  rescue: {
    what: 'a job that waited again later than lease and sweep allow',
    plant: takeLate,
  },
}

/** Puts an event right after another one. */
function moveEvent({ events }: History, id: number, after: number): void {
  const [moved] = events.splice(
    events.findIndex((event) => event.id === String(id)),
    1,
  )
  if (moved === undefined) throw new Error(`no event ${id}`)
  events.splice(events.findIndex((event) => event.id === String(after)) + 1, 0, moved)
}

/** Delays the reap to 4,101 ms after the killed worker's last heartbeat: a lease of 2 s and 2.1 intervals of 1 s are over. */
export function takeLate(history: History): void {
  eventOf(history, 3).at = T0 + 4_701
  eventOf(history, 3).details['next_run_at'] = iso(T0 + 4_701)
  eventOf(history, 4).at = T0 + 4_800
  eventOf(history, 5).at = T0 + 4_900
}
