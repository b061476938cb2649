// The judge of a chaos run on made-up histories: a clean one, and copies with one planted violation each.
import { describe, expect, it } from 'vitest'
import { checkHistory, judged } from '../../../chaos/src/judge/check-history.ts'
import type { History } from '../../../chaos/src/judge/history.ts'
import { replayEvents } from '../../../chaos/src/judge/job-story.ts'
import { measureRescues } from '../../../chaos/src/judge/times.ts'

const T0 = Date.parse('2026-01-01T00:00:00Z')
const iso = (at: number) => new Date(at).toISOString()
const row = {
  owner: 'anna',
  failures: 0,
  crashes: 0,
  timeouts: 0,
  maxAttempts: 5,
  workerId: null,
  leaseId: null,
  leaseExpiresAt: null,
}

/** One job rescued from a killed worker, one that failed for good, one completed in a transaction. */
function cleanHistory(): History {
  const event = (id: number, jobId: string, type: string, at: number, details: Record<string, unknown>) => ({
    id: String(id),
    jobId,
    type,
    at: T0 + at,
    details,
  })
  const claim = (worker: string, lease: string, fence: number) => ({
    worker_id: worker,
    lease_id: lease,
    fence,
  })
  const line = (kind: string, at: number, worker: string, job: string, lease: string, more = {}) => ({
    kind,
    at: T0 + at,
    worker,
    pid: 1,
    job,
    lease,
    ...more,
  })
  const answer = (verb: string, outcome: string) => ({ verb, outcome })
  return {
    policy: {
      attemptCountedAt: 'claim',
      failureBudget: 'failures',
      reapBudget: 'crashes',
      maxCrashes: 12,
      maxTimeouts: 3,
    },
    times: { leaseMs: 2_000, sweepMs: 1_000, pollMs: 400 },
    jobs: [
      { ...row, id: 'a', type: 'quick', status: 'succeeded', attempt: 2, fence: 2, finishedLeaseId: 'l2' },
      {
        ...row,
        id: 'b',
        type: 'poison',
        status: 'dead',
        attempt: 3,
        fence: 3,
        finishedLeaseId: 'p3',
        failures: 3,
        maxAttempts: 3,
      },
      { ...row, id: 'c', type: 'tx', status: 'succeeded', attempt: 1, fence: 1, finishedLeaseId: 't1' },
    ],
    events: [
      event(1, 'a', 'queued', 0, { cause: 'enqueue' }),
      // Workers add an end of their own to the name that the run gave them.
      event(2, 'a', 'processing', 100, claim('w1-1:0a1b2c3d', 'l1', 1)),
      event(3, 'a', 'reaper:requeued', 3_000, {
        lease_id: 'l1',
        cause: 'crash',
        last_heartbeat_at: iso(T0 + 600),
        lease_expires_at: iso(T0 + 2_600),
        next_run_at: iso(T0 + 3_200),
      }),
      event(4, 'a', 'processing', 3_300, claim('w2-1', 'l2', 2)),
      event(5, 'a', 'complete', 3_400, { attempt: 2 }),
      event(6, 'b', 'queued', 0, { cause: 'enqueue' }),
      event(7, 'b', 'processing', 100, claim('w2-1', 'p1', 1)),
      event(8, 'b', 'retry', 200, { lease_id: 'p1', next_run_at: iso(T0 + 400) }),
      event(9, 'b', 'processing', 500, claim('w2-1', 'p2', 2)),
      event(10, 'b', 'retry', 600, { lease_id: 'p2', next_run_at: iso(T0 + 800) }),
      event(11, 'b', 'processing', 900, claim('w2-1', 'p3', 3)),
      event(12, 'b', 'failed', 1_000, { lease_id: 'p3' }),
      event(13, 'c', 'queued', 0, { cause: 'enqueue' }),
      event(14, 'c', 'processing', 100, claim('w2-1', 't1', 1)),
      event(15, 'c', 'complete', 200, { attempt: 1 }),
    ],
    txEffects: [{ jobId: 'c', leaseId: 't1' }],
    webhooks: [{ webhookId: 'h', events: ['reaper:requeued'] }],
    deliveries: [
      { webhookId: 'h', jobId: 'a', type: 'reaper:requeued', timestamp: iso(T0 + 3_000), count: 1 },
    ],
    ledger: [
      line('started', 110, 'w1-1', 'a', 'l1'),
      line('started', 3_310, 'w2-1', 'a', 'l2'),
      line('effect', 3_390, 'w2-1', 'a', 'l2'),
      line('answered', 3_410, 'w2-1', 'a', 'l2', answer('completeJobs', 'completed')),
      line('ended', 3_411, 'w2-1', 'a', 'l2', { end: 'completed' }),
      line('answered', 210, 'w2-1', 'b', 'p1', answer('failJobs', 'retried')),
      line('ended', 210, 'w2-1', 'c', 't1', { end: 'completed' }),
    ],
    samples: [{ at: T0 + 2_900, mismatched: 0, overdueMs: 300 }],
    disturbances: [{ who: 'w1-1', kind: 'gone', from: T0 + 700, to: Number.POSITIVE_INFINITY }],
    stalls: [],
    holds: [],
    enqueuedIds: ['a', 'b', 'c'],
    intrusions: [{ act: 'cancel', outcome: 'not-found' }],
  }
}

const jobOf = (history: History, id: string) => {
  const found = history.jobs.find((job) => job.id === id)
  if (found === undefined) throw new Error(`no job ${id}`)
  return found
}
const eventOf = (history: History, id: number) => {
  const found = history.events.find((event) => event.id === String(id))
  if (found === undefined) throw new Error(`no event ${id}`)
  return found
}

const planted: Record<string, { what: string; plant: (history: History) => void }> = {
  I1: {
    what: 'a second completion',
    plant: (history) => history.events.push({ ...eventOf(history, 5), id: '16', at: T0 + 3_500 }),
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
  rescue: {
    what: 'a job that waited again later than lease and sweep allow',
    plant: takeLate,
  },
}

/** Delays the reap to 3,001 ms after the killed worker's last heartbeat. */
function takeLate(history: History): void {
  eventOf(history, 3).at = T0 + 3_601
  eventOf(history, 3).details['next_run_at'] = iso(T0 + 3_601)
  eventOf(history, 4).at = T0 + 3_700
  eventOf(history, 5).at = T0 + 3_800
}

const invariantsOf = (history: History) => checkHistory(history).violations.map(({ invariant }) => invariant)

describe('the judge of a chaos run', () => {
  it('finds nothing in a clean history', () => {
    expect(checkHistory(cleanHistory()).violations).toEqual([])
  })

  it('has a planted violation for every invariant that it judges', () => {
    expect(Object.keys(planted)).toEqual(judged)
  })

  it.each(Object.entries(planted).map(([invariant, { what, plant }]) => ({ invariant, what, plant })))(
    'notices $what ($invariant)',
    ({ invariant, plant }) => {
      const history = cleanHistory()
      plant(history)
      expect(invariantsOf(history)).toContain(invariant)
    },
  )

  it('notices a completion whose row names another lease than the holder', () => {
    const history = cleanHistory()
    jobOf(history, 'a').finishedLeaseId = 'l1'
    expect(invariantsOf(history)).toEqual(expect.arrayContaining(['I2', 'I7']))
  })

  it.each(['clock-stepped', 'pool-used-up', 'backend-killed', 'table-locked', 'vacuum-full'])(
    'takes %s for no excuse of a reap',
    (kind) => {
      const history = cleanHistory()
      history.disturbances.splice(0)
      history.disturbances.push({ who: 'w1', kind, from: T0 + 700, to: T0 + 2_500 })
      expect(invariantsOf(history)).toContain('I19')
    },
  )

  describe('a machine that is too slow', () => {
    const cpu = (who: string, ms: number) => ({
      from: T0 + 1_500,
      to: T0 + 2_000,
      by: 'processor' as const,
      who,
      ms,
    })

    it.each([
      ['the worker waited for a processor for half a lease', [cpu('w1', 1_000)]],
      ['the worker and all on its way did together', [cpu('w1', 400), cpu('run', 300), cpu('database', 300)]],
      ['the run itself stopped for a beat', [{ from: T0 + 1_500, to: T0 + 2_000, by: 'timer' as const }]],
    ])('does not judge a reap where %s', (_, stalls) => {
      const history = cleanHistory()
      history.disturbances.splice(0)
      history.stalls.push(...stalls)
      expect(checkHistory(history)).toMatchObject({ violations: [], unjudged: [{ invariant: 'I19' }] })
    })

    it.each([
      ['it waited for less', [cpu('w1', 999)]],
      ['another worker waited', [cpu('w2', 2_000)]],
      ['it waited long before', [{ ...cpu('w1', 2_000), from: T0 - 3_000, to: T0 - 1_000 }]],
    ])('judges a reap where %s', (_, stalls) => {
      const history = cleanHistory()
      history.disturbances.splice(0)
      history.stalls.push(...stalls)
      expect(invariantsOf(history)).toContain('I19')
    })

    it('does not judge how late a reap was where everybody who sweeps waited for a processor', () => {
      const history = cleanHistory()
      takeLate(history)
      const waits = [cpu('w1', 1_000), cpu('w2', 1_000)].map((wait) => ({
        ...wait,
        from: T0 + 2_700,
        to: T0 + 3_500,
      }))
      history.stalls.push(...waits)
      expect(invariantsOf(history)).not.toContain('rescue')
      expect(checkHistory(history).unjudged).toMatchObject([{ invariant: 'rescue' }])
      history.stalls.pop()
      history.stalls.push({ ...cpu('w2', 20), from: T0 + 2_700, to: T0 + 3_500 })
      expect(invariantsOf(history)).toContain('rescue')
    })
  })

  describe('a reap by presence, long before the lease ends', () => {
    const gone = (disturbances: History['disturbances']) => {
      const history = cleanHistory()
      Object.assign(eventOf(history, 3).details, {
        cause: 'worker-gone',
        lease_expires_at: iso(T0 + 60_000),
      })
      history.disturbances.splice(0, 1, ...disturbances)
      return history
    }
    const fault = (kind: string, who = 'w1') => ({ who, kind, from: T0 + 700, to: T0 + 2_500 })

    it('is right where that process had ended, and its time counts from then', () => {
      const history = gone([{ ...fault('gone', 'w1-1'), to: Number.POSITIVE_INFINITY }])
      expect(invariantsOf(history)).toEqual([])
      const { stories } = checkHistory(history)
      expect(measureRescues(history, stories).byCause).toEqual({
        'worker-gone': { count: 1, slowestMs: 2_300 },
      })
    })

    it.each([
      ['nothing had happened', []],
      ['only its namesake had ended', [fault('gone', 'w1-2')]],
      ['it ended later', [{ ...fault('gone', 'w1-1'), from: T0 + 3_001 }]],
      ['it was only paused', [fault('pause')]],
      ['only its sessions were ended', [fault('presence-ended'), fault('session-ended')]],
      ['the server recovered', [fault('backend-killed', '*')]],
      ['no slot was free, and its heartbeats had one', [fault('slots-full', '*'), fault('presence-ended')]],
    ])('is false where %s', (_, disturbances) => {
      expect(invariantsOf(gone(disturbances))).toContain('I19')
    })

    it('is excused where it was cut off and its session was ended too', () => {
      expect(invariantsOf(gone([fault('blackhole'), fault('presence-ended')]))).toEqual([])
    })
  })

  it('takes neither an outage of the database nor a blocked loop for an excuse of a reap', () => {
    const history = cleanHistory()
    history.disturbances.splice(0)
    const span = { from: T0 + 700, to: T0 + 2_500 }
    history.disturbances.push({ who: '*', kind: 'database-stopped', ...span })
    history.disturbances.push({ who: 'w1', kind: 'block', ...span })
    expect(invariantsOf(history)).toContain('I19')
  })

  it('does not count a lease that its worker never received as taken from it', () => {
    const history = cleanHistory()
    history.disturbances.splice(0)
    history.ledger.shift()
    expect(invariantsOf(history)).toEqual([])
  })

  it('counts the time of an outage out of how late a reap may be', () => {
    const history = cleanHistory()
    history.samples.push({ at: T0 + 20_000, mismatched: 0, overdueMs: 9_000 })
    expect(invariantsOf(history)).toContain('I16')
    const span = { from: T0 + 11_000, to: T0 + 16_000 }
    history.disturbances.push({ who: '*', kind: 'database-stopped', ...span })
    expect(invariantsOf(history)).not.toContain('I16')
  })

  it('allows one more lease if a second outage restarted the hold', () => {
    const history = cleanHistory()
    const outage = (from: number, to: number) => ({
      who: '*',
      kind: 'database-stopped',
      from: T0 + from,
      to: T0 + to,
    })
    history.samples.push({ at: T0 + 20_000, mismatched: 0, overdueMs: 12_000 })
    history.disturbances.push(outage(9_000, 14_500))
    expect(invariantsOf(history)).toContain('I16')
    history.disturbances.push(outage(16_000, 16_100))
    expect(invariantsOf(history)).not.toContain('I16')
    history.samples.push({ at: T0 + 21_000, mismatched: 0, overdueMs: 13_000 })
    expect(invariantsOf(history)).toContain('I16')
  })

  it('allows a rescue what the machine stood still, an outage and a hold', () => {
    const excuses: ((history: History) => void)[] = [
      ({ stalls }) => stalls.push({ from: T0, to: T0 + 200, by: 'timer' }),
      ({ disturbances }) =>
        disturbances.push({ who: '*', kind: 'database-stopped', from: T0 + 700, to: T0 + 800 }),
      ({ holds }) => holds.push({ at: T0 + 3_000 }),
    ]
    for (const excuse of excuses) {
      const history = cleanHistory()
      takeLate(history)
      excuse(history)
      expect(invariantsOf(history)).not.toContain('rescue')
    }
  })

  it('allows a rescue the time in which a paused transaction keeps the row locked, and only then', () => {
    const history = cleanHistory()
    takeLate(history)
    history.disturbances.splice(0)
    history.disturbances.push({ who: 'w1', kind: 'pause', from: T0 + 700, to: T0 + 3_500 })
    expect(invariantsOf(history)).toContain('rescue')
    jobOf(history, 'a').type = 'tx'
    expect(invariantsOf(history)).not.toContain('rescue')
  })

  it.each([
    ['who fails after a cancel was asked for', { code: 'ABORTED', attempt: 1 }, { counted: 1, releases: 0 }],
    ['who gives the job back then', { cause: 'interruption' }, { counted: 0, releases: 1 }],
  ])('counts the attempt of %s as the engine does', (_, details, expected) => {
    const lease = { lease_id: 'l1', fence: 1, worker_id: 'w1' }
    const events = [
      { id: '1', jobId: 'a', type: 'queued', at: T0, details: {} },
      { id: '2', jobId: 'a', type: 'processing', at: T0 + 1, details: lease },
      { id: '3', jobId: 'a', type: 'cancel-requested', at: T0 + 2, details: {} },
      { id: '4', jobId: 'a', type: 'cancelled', at: T0 + 3, details: { ...details, lease_id: 'l1' } },
    ]
    expect(replayEvents('a', events)).toMatchObject(expected)
  })
})
