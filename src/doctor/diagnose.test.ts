import { describe, expect, it } from 'vitest'
import { defaultBreakerSettings } from '../policy/dependency/breaker.ts'
import { nativePolicy } from '../policy/policy.ts'
import type { Breaker, QueueStatus } from '../store/ports/dependency-store.ts'
import { diagnose } from './diagnose.ts'
import type { DoctorFacts, HorizonHolder, RelationFacts, ServerFacts, TableFacts } from './facts.ts'
import type { Finding } from './finding.ts'

const server: ServerFacts = {
  version: '18.0',
  versionNumber: 180_000,
  now: new Date('2026-01-01T12:00:00Z'),
  clockSkewMs: 40,
  roundTripMs: 2,
  isStandby: false,
  hasAutovacuum: true,
  role: 'app',
  canSeeOthers: true,
  hasCron: false,
}

const relation: RelationFacts = {
  isUnlogged: false,
  hasPrimaryKey: true,
  fillfactor: 70,
  hasAutovacuum: true,
  scaleFactor: 0.2,
  liveRows: 100_000,
  deadRows: 0,
  vacuumAgeMs: null,
  beatIndexes: [],
  fixes: {
    setLogged: 'set logged',
    addPrimaryKey: 'add key',
    setFillfactor: 'set fillfactor',
    enableAutovacuum: 'enable',
    setScaleFactor: 'set scale factor',
    vacuum: 'vacuum it',
    analyze: 'analyze it',
    scheduleSweeps: 'schedule it',
  },
}

const table: TableFacts = {
  name: 'public.jobs',
  stored: nativePolicy,
  override: {},
  storeOverride: null,
  profileDrift: null,
  ageRule: { isOn: false, columns: ['locked_at', 'updated_at'] },
  health: {
    waiting: 0,
    due: 0,
    running: 0,
    overdue: 0,
    oldestOverdueMs: null,
    oldestDueMs: null,
    unjudged: 0,
    reaperAgeMs: 1_000,
    holdReason: null,
    releasedOften: 0,
    hidden: null,
  },
  mode: 'reap',
  ownMaxima: [],
  longOverdue: { jobs: 0, ids: [], oldestMs: null },
  releasedOften: { jobs: 0, ids: [], most: 0 },
  unknownWords: [],
  relation,
  missingRights: [],
  hiddenRows: [],
  exposedObjects: [],
  claim: { expected: 'jobs_ready', create: 'create it', isThere: true, used: ['jobs_ready'] },
  sweep: { expected: 'jobs_running', create: 'create it', isThere: true, used: ['jobs_running'] },
  dispatchesWaiting: 0,
  workers: [],
  queues: [],
}

const facts: DoctorFacts = {
  server,
  route: { isDirect: true, direct: null },
  migrations: {
    isInstalled: true,
    applied: ['0001'],
    pending: [],
    unknown: [],
    engine: 'current',
    tables: [{ table: 'public.jobs', state: 'current' }],
    isCurrent: true,
  },
  horizon: [],
  breakers: [],
  tables: [table],
  unreadable: [],
}

/** Level, check and fix of every finding that is not fine. */
function troubles(change: Partial<DoctorFacts>): [Finding['level'], string, string | null][] {
  return diagnose({ ...facts, ...change })
    .filter(({ level }) => level !== 'fine')
    .map(({ level, check, fix }) => [level, check, fix])
}

const kinds = (found: [Finding['level'], string, string | null][]) =>
  found.map(([level, check]) => [level, check])
const withTable = (change: Partial<TableFacts>) => troubles({ tables: [{ ...table, ...change }] })
const withRelation = (change: Partial<RelationFacts>) => withTable({ relation: { ...relation, ...change } })
const withServer = (change: Partial<ServerFacts>) => troubles({ server: { ...server, ...change } })

it('OPS-8 facts that are well give no trouble', () => {
  expect(troubles({})).toEqual([])
})

describe('the server', () => {
  it('OPS-8 a clock that is off by over a second is a warning, in either direction', () => {
    for (const clockSkewMs of [-1_100, 1_100])
      expect(kinds(withServer({ clockSkewMs }))).toEqual([['warning', 'connection']])
    expect(withServer({ clockSkewMs: 900 })).toEqual([])
    // The answer was so long on its way that the clocks may well agree.
    expect(withServer({ clockSkewMs: 1_100, roundTripMs: 500 })).toEqual([])
  })

  it('OPS-8 an old version and a standby are problems', () => {
    expect(kinds(withServer({ versionNumber: 130_012 }))).toEqual([['problem', 'connection']])
    expect(kinds(withServer({ isStandby: true }))).toEqual([['problem', 'connection']])
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

describe('presence', () => {
  const found = (change: Partial<TableFacts>, others: Partial<DoctorFacts> = {}) =>
    diagnose({ ...facts, ...others, tables: [{ ...table, ...change }] }).filter(
      ({ check }) => check === 'presence',
    )

  it('LEASE-10 that is on says how many workers are present', () => {
    const workers = [{ presence: 'present' }, { presence: 'off' }] as const
    expect(found({ workers: [...workers] })).toEqual([
      {
        check: 'presence',
        level: 'fine',
        message: 'public.jobs: on, 1 of 2 live workers present',
        fix: null,
      },
    ])
  })

  it('LEASE-10 behind a pooler names UNSTUCK_DIRECT_URL, and is no warning', () => {
    const [pooled] = found({ workers: [{ presence: 'pooled' }] })
    expect(pooled).toMatchObject({ level: 'fine', fix: expect.stringContaining('UNSTUCK_DIRECT_URL') })
    expect(pooled?.message).toBe(
      'public.jobs: off for 1 worker because of a pooler, leases decide when a worker dies',
    )
    const route = { isDirect: false, direct: null }
    expect(found({ workers: [] }, { route })[0]?.message).toContain('off because of a pooler')
    const direct = { isDirect: true, isSameDatabase: true }
    expect(found({ workers: [] }, { route: { isDirect: false, direct } })[0]?.message).toContain('on, 0 of 0')
  })

  it('LEASE-10 that the policy turns off says so', () => {
    const [off] = found({ override: { presence: 'off' } })
    expect(off).toMatchObject({ level: 'fine', fix: null })
    expect(off?.message).toContain('off by the policy')
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
    nextProbeInMs: null,
    earlyProbeInMs: null,
    heldForMs: null,
    lastCalls: [],
    settings: defaultBreakerSettings,
    queues: [{ attachment: 'jobs', queue: 'convert' }],
  }
  const queue: QueueStatus = {
    queue: 'convert',
    waiting: 3,
    due: 3,
    running: 2,
    isPaused: false,
    pausedAt: null,
    pausedForMs: null,
    pausedBy: null,
    pauseReason: null,
    dependency: 'gateway',
    breakerState: 'closed',
  }
  const found = (change: Partial<Breaker>, running = queue) =>
    diagnose({
      ...facts,
      breakers: [{ ...breaker, ...change }],
      tables: [{ ...table, queues: [running] }],
    }).filter(({ level }) => level !== 'fine')

  it('BREAK-1 that hear of no call while jobs run are a warning that names the queue', () => {
    expect(found({})).toMatchObject([
      {
        level: 'warning',
        check: 'unheard breaker',
        message: 'jobs of convert run, and breaker gateway has heard of no call for 60 min: it cannot open',
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
    expect(finding?.message).toContain('is held, for the service asked for a pause (429 or Retry-After)')
  })
})

describe('jobs that go back again and again', () => {
  it('RATE-6 are a warning that names some of them', () => {
    const releasedOften = { jobs: 7, ids: ['a', 'b'], most: 31 }
    expect(withTable({ releasedOften })).toEqual([['warning', 'released often', 'unstuck why a']])
    const [finding] = diagnose({ ...facts, tables: [{ ...table, releasedOften }] }).filter(
      ({ check }) => check === 'released often',
    )
    expect(finding?.message).toContain('(up to 31 times)')
    expect(finding?.message).toMatch(/: a, b, …$/)
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
      message: expect.stringContaining('sees its own only') as string,
    })
  })
})

describe('dead rows', () => {
  it('OPS-8 a fifth of the table is a warning, if it is many; first the scale factor, then a vacuum', () => {
    expect(withRelation({ deadRows: 9_999, liveRows: 1 })).toEqual([])
    expect(withRelation({ deadRows: 20_000, liveRows: 100_000 })).toEqual([])
    expect(withRelation({ deadRows: 38_000, liveRows: 62_000 })).toEqual([
      ['warning', 'autovacuum', 'set scale factor'],
    ])
    expect(withRelation({ deadRows: 38_000, liveRows: 62_000, scaleFactor: 0.02 })).toEqual([
      ['warning', 'autovacuum', 'vacuum it'],
    ])
  })
})

describe('indexes', () => {
  it('OPS-8 an index that is there but is not chosen is a warning, unless the table is small', () => {
    const claim = { expected: 'jobs_ready', create: 'create it', isThere: true, used: ['jobs_pkey'] }
    expect(withTable({ claim })).toEqual([['warning', 'claim index', 'analyze it']])
    expect(withTable({ claim, relation: { ...relation, liveRows: 9_999 } })).toEqual([])
  })
})

describe('the reaper', () => {
  it('REAP-8 rows that nothing can judge are told', () => {
    if (table.health === null) throw new Error('the table has its health')
    const health = { ...table.health, unjudged: 2 }
    const remedy =
      'policy: { legacyAgeRule: true } in the config file reaps such rows by the age of locked_at, updated_at'
    expect(withTable({ health })).toEqual([['warning', 'unjudged jobs', remedy]])
    expect(withTable({ health, ageRule: { isOn: true, columns: ['locked_at'] } })).toEqual([
      ['warning', 'unjudged jobs', 'unstuck reap --dry-run'],
    ])
  })

  it('OPS-4 what is held after an outage is a warning, not a problem', () => {
    if (table.health === null) throw new Error('the table has its health')
    const longOverdue = { jobs: 1, ids: ['1'], oldestMs: 900_000 }
    expect(kinds(withTable({ longOverdue }))).toEqual([['problem', 'over 2x TTL']])
    expect(
      kinds(withTable({ longOverdue, health: { ...table.health, holdReason: 'server-restarted' } })),
    ).toEqual([['warning', 'over 2x TTL']])
  })

  it('OPS-14 in mode observe the remedy is the mode: a reap by hand is refused there', () => {
    const longOverdue = { jobs: 1, ids: ['1'], oldestMs: 900_000 }
    expect(withTable({ longOverdue, mode: 'observe' })).toEqual([
      ['warning', 'over 2x TTL', 'unstuck mode reap'],
    ])
  })

  it('OPS-4 the interval of the environment counts, and pg_cron is named where it is there', () => {
    if (table.health === null) throw new Error('the table has its health')
    const health = { ...table.health, reaperAgeMs: 20_000 }
    expect(withTable({ health })).toEqual([])
    const found = troubles({
      server: { ...server, hasCron: true },
      tables: [{ ...table, health, override: { sweepIntervalMs: 5_000 } }],
    })
    expect(found[0]).toEqual(['problem', 'no reaper', 'Start a worker, or: unstuck reaper, or: schedule it'])
  })
})

describe('status words', () => {
  it('REAP-8 a word for an end only stays, any other keeps its rows from being claimed and reaped', () => {
    const words = (...list: (string | null)[]) =>
      kinds(withTable({ unknownWords: list.map((word) => ({ word, jobs: 1 })) }))
    expect(words('error', 'Aborted')).toEqual([['warning', 'status words']])
    expect(words('picked', null)).toEqual([['problem', 'status words']])
    expect(words('processing', 'done')).toEqual([
      ['problem', 'status words'],
      ['warning', 'status words'],
    ])
  })
})

describe('policy drift', () => {
  it('OPS-8 only the keys of a map that are given are compared', () => {
    const stored = { ...nativePolicy, stageLeasesMs: { asr: 1_000_000, clip: 300_000 } }
    const same = { stored, override: { stageLeasesMs: { asr: 1_000_000 } }, storeOverride: 'store it' }
    expect(withTable(same)).toEqual([])
    const other = { ...same, override: { stageLeasesMs: { asr: 2_000_000 }, reapBackoffStepsMs: [1] } }
    expect(withTable(other)).toEqual([['warning', 'policy drift', 'store it']])
  })

  it('OPS-8 jobs whose own maximum wins over the policy’s are told with both numbers', () => {
    const ownMaxima = [{ maximum: 3, jobs: 2, isDefault: true, fix: 'set it' }]
    const tables = [{ ...table, override: { maxAttempts: 5 }, storeOverride: 'store it', ownMaxima }]
    const [first] = diagnose({ ...facts, tables }).filter(({ check }) => check === 'policy drift')
    expect(first).toMatchObject({
      level: 'warning',
      message:
        'public.jobs: max_attempts 3 (2 unfinished jobs, the default of the column) wins over 5 of the policy',
      fix: 'set it',
    })
  })

  it('OPS-8 what the profile asks for and the database does not go by is told with both values', () => {
    const differences = [{ setting: 'defaultLeaseMs', written: 1_000, stored: 300_000 }]
    const tables = [{ ...table, profileDrift: { differences, statement: 'store that' } }]
    expect(diagnose({ ...facts, tables }).filter(({ check }) => check === 'policy drift')).toEqual([
      {
        check: 'policy drift',
        level: 'warning',
        message: 'public.jobs: defaultLeaseMs is 1000 in the profile and 300000 in the database',
        fix: 'store that',
      },
    ])
  })
})

it('OPS-8 what could not be read is a problem of its own, and its checks are left out', () => {
  const bare = { stored: null, health: null, longOverdue: null, unknownWords: null, relation: null }
  const more = { missingRights: null, claim: null, sweep: null, queues: null, dispatchesWaiting: null }
  const found = troubles({
    tables: [{ ...table, ...bare, ...more }],
    migrations: null,
    horizon: null,
    breakers: null,
    unreadable: [{ what: 'health of public.jobs', reason: 'permission denied' }],
  })
  expect(found).toEqual([['problem', 'unreadable', null]])
})
