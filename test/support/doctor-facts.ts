// Facts of a healthy deployment, and the findings of a changed one.
import { diagnose } from '../../src/doctor/diagnose.ts'
import type { DoctorFacts, RelationFacts, ServerFacts, TableFacts } from '../../src/doctor/facts.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { nativePolicy } from '../../src/policy/policy.ts'

export const server: ServerFacts = {
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
  connectionSlots: 97,
}

export const relation: RelationFacts = {
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

export const table: TableFacts = {
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
    atLeast: [],
    queues: [],
  },
  mode: 'reap',
  ownMaxima: [],
  longOverdue: { jobs: 0, ids: [], oldestMs: null },
  releasedOften: { jobs: 0, ids: [], most: 0 },
  timesAhead: [],
  unknownWords: [],
  relation,
  missingRights: [],
  hiddenRows: [],
  exposedObjects: [],
  claim: { expected: 'jobs_ready', create: 'create it', isThere: true, used: ['jobs_ready'] },
  sweep: { expected: 'jobs_running', create: 'create it', isThere: true, used: ['jobs_running'] },
  searchIndexes: [],
  dispatchesWaiting: 0,
  unhandled: [],
  workers: [],
}

export const facts: DoctorFacts = {
  server,
  route: { isDirect: true, direct: null },
  connections: 5,
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
export function troubles(change: Partial<DoctorFacts>): [Finding['level'], string, string | null][] {
  return diagnose({ ...facts, ...change })
    .filter(({ level }) => level !== 'fine')
    .map(({ level, check, fix }) => [level, check, fix])
}

export const kinds = (found: [Finding['level'], string, string | null][]) =>
  found.map(([level, check]) => [level, check])

export const withTable = (change: Partial<TableFacts>) => troubles({ tables: [{ ...table, ...change }] })

export const withRelation = (change: Partial<RelationFacts>) =>
  withTable({ relation: { ...relation, ...change } })

export const withServer = (change: Partial<ServerFacts>) => troubles({ server: { ...server, ...change } })
