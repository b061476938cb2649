import { describe, expect, it } from 'vitest'
import type { Attempt, Job, JobEvent } from '../../../src/http/contract/index.ts'
import { timelineOf } from './timeline.ts'

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000).toISOString()
const job = { status: 'dead' } as Job
const attempt = (changes: Partial<Attempt>): Attempt => ({
  attempt: 1,
  worker_id: 'worker-1',
  stage: null,
  started_at: at(0),
  ended_at: at(10),
  duration_ms: 10_000,
  outcome: 'retried',
  code: null,
  category: null,
  reason: null,
  last_heartbeat_at: null,
  next_run_at: null,
  ...changes,
})

describe('timelineOf', () => {
  it('SEE-5 a reaped attempt is dark from its last heartbeat until it was requeued', () => {
    const reaped = attempt({ outcome: 'reaped', last_heartbeat_at: at(4) })
    const timeline = timelineOf(
      job,
      [reaped, attempt({ attempt: 2, started_at: at(15), ended_at: at(20) })],
      [],
      0,
    )
    expect(timeline?.lanes.map(({ bands }) => bands)).toEqual([
      [
        { kind: 'run', from: 0, to: 0.2, ms: 4_000 },
        { kind: 'dark', from: 0.2, to: 0.5, ms: 6_000 },
        { kind: 'wait', from: 0.5, to: 0.75, ms: 5_000 },
      ],
      [{ kind: 'run', from: 0.75, to: 1, ms: 5_000 }],
    ])
  })

  it('SEE-5 an attempt that runs reaches to now, on the clock of the database', () => {
    const running = attempt({ ended_at: null, outcome: 'running' })
    const timeline = timelineOf(
      { status: 'running', lease_expires_at: at(9) } as Job,
      [running],
      [],
      Date.parse(at(7)),
    )
    expect(timeline?.lanes[0]?.bands).toEqual([{ kind: 'run', from: 0, to: 1, ms: 7_000 }])
  })

  it('SEE-7 an attempt past its lease is dark from its last heartbeat', () => {
    const running = attempt({ ended_at: null, outcome: 'running', last_heartbeat_at: at(5) })
    const silent = { status: 'running', lease_expires_at: at(8) } as Job
    expect(timelineOf(silent, [running], [], Date.parse(at(10)))?.lanes[0]?.bands).toEqual([
      { kind: 'run', from: 0, to: 0.5, ms: 5_000 },
      { kind: 'dark', from: 0.5, to: 1, ms: 5_000 },
    ])
    expect(timelineOf(silent, [running], [], Date.parse(at(7)))?.lanes[0]?.bands).toHaveLength(1)
  })

  it('SEE-5 what somebody did by hand is marked with who and why', () => {
    const event: JobEvent = {
      id: '1',
      job_id: 'a',
      table: 'jobs',
      type: 'queued',
      at: at(5),
      details: { actor: 'ana', reason: 'gateway is back' },
    }
    const timeline = timelineOf(job, [attempt({})], [event, { ...event, id: '2', details: {} }], 0)
    expect(timeline?.marks).toEqual([{ share: 0.5, event, text: 'queued by ana: “gateway is back”' }])
  })

  it('SEE-5 nothing is drawn where no time is known', () => {
    expect(timelineOf(job, [attempt({ started_at: null, ended_at: null })], [], 0)).toBeNull()
  })
})
