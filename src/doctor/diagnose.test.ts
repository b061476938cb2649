import { describe, expect, it } from 'vitest'
import {
  facts,
  kinds,
  server,
  table,
  troubles,
  withServer,
  withTable,
} from '../../test/support/doctor-facts.ts'
import { defaultBreakerSettings } from '../policy/dependency/breaker.ts'
import { nativePolicy } from '../policy/policy.ts'
import type { Breaker, QueueStatus } from '../store/ports/dependency-store.ts'
import type { Health } from '../store/ports/reading-store.ts'
import type { WorkerStatus } from '../store/ports/worker-store.ts'
import { showSkew } from './checks/connection.ts'
import { diagnose } from './diagnose.ts'
import type { DoctorFacts, HorizonHolder } from './facts.ts'

it('OPS-8 facts that are well give no trouble', () => {
  expect(troubles({})).toEqual([])
})

describe('the server', () => {
  it('OPS-8 a clock that is off by over a second is a warning, in either direction', () => {
    for (const clockSkewMs of [-1_100, 1_100])
      expect(kinds(withServer({ clockSkewMs }))).toEqual([['warning', 'connection']])
    expect(withServer({ clockSkewMs: 900 })).toEqual([])
    expect([-3, -12, 1_204].map(showSkew)).toEqual(['0.00 s', '-0.01 s', '1.20 s'])
    // The answer was so long on its way that the clocks may well agree.
    expect(withServer({ clockSkewMs: 1_100, roundTripMs: 500 })).toEqual([])
  })

  it('OPS-8 an old version and a standby are problems', () => {
    expect(kinds(withServer({ versionNumber: 130_012 }))).toEqual([['problem', 'connection']])
    expect(kinds(withServer({ isStandby: true }))).toEqual([['problem', 'connection']])
  })
})

describe('connection slots', () => {
  const worker = { state: 'live', presence: 'present' } as WorkerStatus
  const fleet = (workers: number, change: Partial<DoctorFacts> = {}) =>
    troubles({ tables: [{ ...table, workers: Array.from({ length: workers }, () => worker) }], ...change })

  it('OPS-8 a fleet that may need more connections than the server has is a warning, with the number that fits', () => {
    // 97 slots, up to 8 connections for each worker.
    expect(fleet(12)).toEqual([])
    expect(fleet(13)).toEqual([
      [
        'warning',
        'connection slots',
        'Set UNSTUCK_CONNECTIONS=4, raise max_connections, or connect through a pooler.',
      ],
    ])
    expect(fleet(13, { connections: 4 })).toEqual([])
  })

  it('OPS-8 for a fleet too large for any number of connections, the fix is a higher limit of the server', () => {
    const [[level, check, fix] = []] = fleet(40)
    expect([level, check]).toEqual(['warning', 'connection slots'])
    expect(fix).toBe('Raise max_connections, or connect through a pooler.')
  })

  it('OPS-8 behind a pooler, and without workers, nothing is counted', () => {
    expect(kinds(fleet(100, { route: { isDirect: false, direct: null } }))).toEqual([['warning', 'pooler']])
    expect(withServer({ connectionSlots: 1 })).toEqual([])
  })
})

describe('deadlines', () => {
  const withPolicy = (change: Partial<typeof nativePolicy>) =>
    kinds(withTable({ stored: { ...nativePolicy, ...change } }))

  it('LEASE-11 a stage that may run for longer than the whole attempt is a warning', () => {
    const stageDeadlinesMs = { render: 172_800_000 }
    expect(withPolicy({ stageDeadlinesMs })).toEqual([['warning', 'deadlines']])
    expect(withPolicy({ stageDeadlinesMs, maxRuntimeMs: 0 })).toEqual([])
    expect(withPolicy({ stageDeadlinesMs, maxRuntimeMs: 172_800_000 })).toEqual([])
    expect(withPolicy({ stageDeadlinesMs, typeRuntimesMs: { film: 259_200_000 } })).toEqual([])
  })
})

describe('a pooler', () => {
  const fix = 'Set UNSTUCK_DIRECT_URL to the address of the server behind the pooler.'

  it('OPS-8 without a direct address is a warning', () => {
    expect(troubles({ route: { isDirect: false, direct: null } })).toEqual([['warning', 'pooler', fix]])
    const direct = { isDirect: true, isSameDatabase: true }
    expect(troubles({ route: { isDirect: false, direct } })).toEqual([])
  })

  it('OPS-8 at the direct address is a warning, another database there a problem', () => {
    const there = (isDirect: boolean, isSameDatabase: boolean) =>
      kinds(troubles({ route: { isDirect: false, direct: { isDirect, isSameDatabase } } }))
    expect(there(false, true)).toEqual([['warning', 'pooler']])
    expect(there(true, false)).toEqual([['problem', 'pooler']])
  })
})

describe('breakers', () => {
  const breaker: Breaker = {
    name: 'gateway',
    state: 'closed',
    since: new Date('2026-01-01T11:00:00Z'),
    changedBy: null,
    reason: null,
    calls: 0,
    failures: 0,
    successes: 0,
    probing: 0,
    reopens: 0,
    unheard: 0,
    nextProbeInMs: null,
    earlyProbeInMs: null,
    heldForMs: null,
    lastCalls: [],
    settings: defaultBreakerSettings,
    queues: [{ attachment: 'jobs', queue: 'convert' }],
  }
  const health = table.health as Health
  const queue: QueueStatus = {
    queue: 'convert',
    waiting: 3,
    due: 3,
    running: 2,
    oldestDueMs: null,
    releasedOften: 0,
    isPaused: false,
    pausedAt: null,
    pausedForMs: null,
    pausedBy: null,
    pauseReason: null,
    dependency: 'gateway',
    breakerState: 'closed',
    concurrency: null,
    groupConcurrency: null,
    groupOrder: null,
    atLeast: [],
  }
  const found = (change: Partial<Breaker>, running = queue) =>
    diagnose({
      ...facts,
      breakers: [{ ...breaker, ...change }],
      tables: [{ ...table, health: { ...health, queues: [running] } }],
    }).filter(({ level }) => level !== 'fine')

  it('BREAK-1 that hear of no call while jobs run are a warning that names the queue', () => {
    expect(found({})).toMatchObject([
      {
        level: 'warning',
        check: 'unheard breaker',
        message:
          'jobs of convert are running, but no call was reported to breaker gateway for 60 min: it cannot open',
      },
    ])
    expect(found({ calls: 1 })).toEqual([])
    expect(found({ since: new Date('2026-01-01T11:55:00Z') })).toEqual([])
    expect(found({}, { ...queue, running: 0 })).toEqual([])
    expect(found({}, { ...queue, dependency: 'other' })).toEqual([])
  })

  it('BREAK-3 that their probe closed too early say what to set', () => {
    const settings = { ...defaultBreakerSettings, mode: 'hold' as const }
    const [finding] = found({
      state: 'open',
      reason: 'calls-failed',
      calls: 20,
      failures: 20,
      reopens: 3,
      settings,
    })
    expect(finding?.message).toContain('its probe closed it 3 times too early: set UNSTUCK_GATEWAY_PROBE_URL')
  })

  it('RATE-6 that a service asked to pause say so', () => {
    const [finding] = found({ state: 'held', reason: 'limited', calls: 1 })
    expect(finding?.message).toContain('is held: the service asked for a pause (429 or Retry-After)')
  })
})

describe('long transactions', () => {
  const held = (change: Partial<HorizonHolder>) =>
    troubles({
      horizon: [
        {
          kind: 'transaction',
          name: 'pid 7',
          state: 'idle',
          ageMs: 0,
          xminAge: null,
          fix: 'end it',
          ...change,
        },
      ],
    })

  it('OPS-8 over five minutes is a warning, over an hour a problem, each with the statement that ends it', () => {
    expect(held({ ageMs: 299_000 })).toEqual([])
    expect(held({ ageMs: 301_000 })).toEqual([['warning', 'long transactions', 'end it']])
    expect(held({ ageMs: 3_601_000 })).toEqual([['problem', 'long transactions', 'end it']])
    expect(kinds(held({ kind: 'prepared transaction', ageMs: 3_601_000 }))).toEqual([
      ['problem', 'long transactions'],
    ])
  })

  it('OPS-8 a slot matters only while nobody uses it', () => {
    expect(held({ kind: 'replication slot', state: 'active', ageMs: null })).toEqual([])
    expect(held({ kind: 'replication slot', state: 'inactive', ageMs: null })).toEqual([
      ['warning', 'long transactions', 'end it'],
    ])
  })

  it('OPS-8 a role that cannot see others says so instead of claiming that there are none', () => {
    const [found] = diagnose({ ...facts, server: { ...server, canSeeOthers: false } }).filter(
      ({ check }) => check === 'long transactions',
    )
    expect(found).toMatchObject({
      level: 'fine',
      message: expect.stringContaining('sees only its own') as string,
    })
  })
})

it('OPS-8 what could not be read is a problem of its own, and its checks are left out', () => {
  const bare = { stored: null, health: null, longOverdue: null, unknownWords: null, relation: null }
  const more = { missingRights: null, claim: null, sweep: null, dispatchesWaiting: null }
  const found = troubles({
    tables: [{ ...table, ...bare, ...more }],
    migrations: null,
    horizon: null,
    breakers: null,
    unreadable: [{ what: 'health of public.jobs', reason: 'permission denied' }],
  })
  expect(found).toEqual([['problem', 'unreadable', null]])
})
