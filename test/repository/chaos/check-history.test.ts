// The judge of a chaos run on made-up histories: a clean one, and copies with one planted violation each.
import { describe, expect, it } from 'vitest'
import { checkHistory, judged } from '../../../chaos/src/judge/check-history.ts'
import type { History } from '../../../chaos/src/judge/history.ts'
import { replayEvents } from '../../../chaos/src/judge/job-story.ts'
import { measureRescues } from '../../../chaos/src/judge/times.ts'
import { cleanHistory, eventOf, iso, jobOf, T0 } from './clean-history.ts'
import { planted, takeLate } from './planted-violations.ts'

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

  describe('a job that its completion deleted', () => {
    const deleted = () => {
      const history = cleanHistory()
      history.jobs.splice(history.jobs.indexOf(jobOf(history, 'a')), 1)
      const complete = history.events.findLast(({ jobId, type }) => jobId === 'a' && type === 'complete')
      Object.assign(complete?.details ?? {}, { attempt: 2, is_deleted: true })
      if (!history.ledger.some(({ kind, job, lease }) => kind === 'effect' && job === 'a' && lease === 'l2'))
        history.ledger.push({ kind: 'effect', at: T0 + 3_300, worker: 'w2-1', pid: 1, job: 'a', lease: 'l2' })
      return history
    }

    it('is judged by its events and the ledgers', () => {
      expect(invariantsOf(deleted())).toEqual([])
    })

    it('has a violation if its row is gone and no completion deleted it', () => {
      const history = deleted()
      for (const { details } of history.events) delete details['is_deleted']
      expect(invariantsOf(history)).toContain('I7')
    })

    it('has a violation if the lease that completed it had no effect', () => {
      const history = deleted()
      history.ledger = history.ledger.filter(({ kind, job }) => kind !== 'effect' || job !== 'a')
      expect(invariantsOf(history)).toContain('I7')
    })

    it('has a violation if another lease was answered that it completed the job', () => {
      const history = deleted()
      for (const line of history.ledger)
        if (line.job === 'a' && line.lease === 'l2' && line.outcome === 'completed') line.lease = 'l1'
      expect(invariantsOf(history)).toEqual(expect.arrayContaining(['I2', 'I7']))
    })
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
        to: T0 + 4_600,
      }))
      history.stalls.push(...waits)
      expect(invariantsOf(history)).not.toContain('rescue')
      expect(checkHistory(history).unjudged).toMatchObject([{ invariant: 'rescue' }])
      history.stalls.pop()
      history.stalls.push({ ...cpu('w2', 20), from: T0 + 2_700, to: T0 + 4_600 })
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

  const outage = (from: number, to: number, kind = 'database-stopped') => ({
    who: '*',
    kind,
    from: T0 + from,
    to: T0 + to,
  })

  it('counts two outages at once only once', () => {
    const history = cleanHistory()
    history.samples.push({ at: T0 + 20_000, mismatched: 0, overdueMs: 13_000 })
    history.disturbances.push(outage(6_000, 10_000), outage(6_000, 10_000, 'slots-full'))
    expect(invariantsOf(history)).toContain('I16')
  })

  it('allows one more lease if a second outage restarted the hold', () => {
    const history = cleanHistory()
    history.samples.push({ at: T0 + 20_000, mismatched: 0, overdueMs: 12_000 })
    history.disturbances.push(outage(9_000, 14_500))
    expect(invariantsOf(history)).toContain('I16')
    history.disturbances.push(outage(16_000, 16_100))
    expect(invariantsOf(history)).not.toContain('I16')
    history.samples.push({ at: T0 + 21_000, mismatched: 0, overdueMs: 13_000 })
    expect(invariantsOf(history)).toContain('I16')
  })

  it('allows nothing for outages that were over when the lease ended', () => {
    const history = cleanHistory()
    history.samples.push({ at: T0 + 20_000, mismatched: 0, overdueMs: 6_000 })
    history.disturbances.push(outage(12_000, 12_100), outage(13_000, 13_100))
    expect(invariantsOf(history)).toContain('I16')
  })

  it('allows what sweeps cannot see between one outage and the next', () => {
    const history = cleanHistory()
    const sample = { at: T0 + 20_000, mismatched: 0, overdueMs: 8_000 }
    history.samples.push(sample)
    history.disturbances.push(outage(11_900, 12_000), outage(13_500, 13_500))
    expect(invariantsOf(history)).toContain('I16')
    history.disturbances.push(outage(15_000, 15_000))
    expect(invariantsOf(history)).not.toContain('I16')
    sample.overdueMs = 9_000
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

  it('allows a rescue three packets of a network that is slow meanwhile', () => {
    const violated = (packetMs: number, to: number) => {
      const history = cleanHistory()
      takeLate(history)
      history.disturbances.splice(0)
      history.delays = [{ from: T0, to, packetMs }]
      return invariantsOf(history)
    }
    expect(violated(0.4, T0 + 3_000)).not.toContain('rescue')
    expect(violated(0.3, T0 + 3_000)).toContain('rescue')
    expect(violated(0.4, T0 + 100)).toContain('rescue')
  })

  it('allows a rescue the time in which a paused transaction keeps the row locked, and only then', () => {
    const history = cleanHistory()
    takeLate(history)
    history.disturbances.splice(0)
    history.disturbances.push({ who: 'w1', kind: 'pause', from: T0 + 700, to: T0 + 4_600 })
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
