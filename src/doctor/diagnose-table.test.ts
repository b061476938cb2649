import { describe, expect, it } from 'vitest'
import {
  facts,
  kinds,
  relation,
  server,
  table,
  troubles,
  withRelation,
  withTable,
} from '../../test/support/doctor-facts.ts'
import { nativePolicy } from '../policy/policy.ts'
import { diagnose } from './diagnose.ts'
import type { DoctorFacts, TableFacts } from './facts.ts'

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
      'public.jobs: off for 1 worker because of a pooler; leases alone detect dead workers',
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

describe('types without a worker', () => {
  it('SEE-8 are a warning that names the queue, the reason and the command', () => {
    const reason = 'none of 4 live workers handles mial, and none ever did'
    const unhandled = [{ type: 'mial', queue: 'post', waiting: 40, reason, wasHandled: false }]
    expect(withTable({ unhandled })).toEqual([['warning', 'unhandled types', 'unstuck worker handlers.js']])
    const [finding] = diagnose({ ...facts, tables: [{ ...table, unhandled }] }).filter(
      ({ check }) => check === 'unhandled types',
    )
    expect(finding?.message).toBe(`queue post of public.jobs: 40 jobs waiting; ${reason}`)
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

describe('times', () => {
  it('OPS-13 that would be in the future mean another zone', () => {
    const timesAhead = [{ table: 'public.jobs', column: 'updated_at', zone: 'UTC', aheadMs: 7_200_000 }]
    expect(withTable({ timesAhead })).toEqual([
      ['problem', 'time zone', expect.stringContaining('Set timeZone in the profile')],
    ])
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
        'public.jobs: max_attempts 3 (2 unfinished jobs, the column default) overrides 5 of the policy',
      fix: 'set it',
    })
  })

  it('OPS-8 a setting that differs between profile and database is reported with both values', () => {
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

describe('searches', () => {
  const searchIndexes = [{ column: 'owner', create: 'create it' }]
  const found = (liveRows: number) =>
    diagnose({ ...facts, tables: [{ ...table, searchIndexes, relation: { ...relation, liveRows } }] }).filter(
      ({ check }) => check === 'search index',
    )

  it('OPS-16 of a large table get the statement for an index, and are no warning', () => {
    expect(found(1_000_000)).toEqual([
      {
        check: 'search index',
        level: 'fine',
        message: 'none: a search of public.jobs by owner reads 10,000 jobs a step',
        fix: 'create it',
      },
    ])
    expect(found(999_999)).toEqual([])
  })
})
