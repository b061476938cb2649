import { describe, expect, it } from 'vitest'
import { clipProfile } from '../clip.ts'
import { nativeProfile } from '../native.ts'
import { columnName, logicalColumns } from '../profile.ts'
import { shippedProfile, shippedProfileNames } from '../shipped.ts'
import { knownQueues, queueOf } from './known-queues/index.ts'
import { recogniseTable, unrecognised } from './recognise-table.ts'
import type { SightedTable } from './scan-target.ts'

const TIME = 'timestamp with time zone'

/** Columns as `name` (text), `name: type`, or `name: word|word` for an enum. */
function sighted(table: string, columns: string[], schema = 'public'): SightedTable {
  return {
    schema,
    table,
    columns: Object.fromEntries(
      columns.map((text) => {
        const [name = '', type = 'text'] = text.split(': ')
        return [name, type.includes('|') ? { type: 'mood', words: type.split('|') } : { type, words: null }]
      }),
    ),
    primaryKey: ['id'],
    canRead: true,
    isFiltered: false,
  }
}

const profiles = [nativeProfile('unstuck'), clipProfile]
const recognise = (table: SightedTable, others: SightedTable[] = []) =>
  recogniseTable(table, [table, ...others], profiles)

describe('known queues', () => {
  it('REAP-13 every one says the version it was read from, its rule and its remedy', () => {
    for (const { version, rule, remedy, columns, running, owners } of knownQueues) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/)
      expect(rule.length).toBeGreaterThan(10)
      expect(remedy.length).toBeGreaterThan(20)
      // Its rows run by a condition over columns that prove it, or by being there at all.
      for (const { column } of running ?? []) expect(columns).toContain(column)
      if (running?.length === 0) expect(owners).toBeDefined()
    }
  })

  it('REAP-13 a column that another version does not have is left out of the rule', () => {
    const older = sighted('job', [
      'state',
      'name',
      'started_on',
      'expire_seconds',
      'singleton_key',
      'singleton_on',
      'retry_limit',
      'keep_until',
    ])
    expect(recognise(older)).toMatchObject({
      name: 'pg-boss',
      timeColumns: ['started_on'],
      ends: [{ column: 'started_on', plusSecondsColumn: 'expire_seconds' }],
    })
  })

  it('REAP-13 workers that beat in a table of their own count only where that table is there', () => {
    const jobs = sighted('procrastinate_jobs', [
      'status',
      'task_name',
      'queueing_lock',
      'lock',
      'attempts',
      'queue_name',
      'worker_id',
    ])
    const workers = sighted('procrastinate_workers', ['id', `last_heartbeat: ${TIME}`])
    expect(recognise(jobs, [workers])?.owners).toMatchObject({ table: 'procrastinate_workers' })
    expect(recognise(jobs)?.owners).toBeNull()
    const elsewhere = { ...workers, schema: 'other' }
    expect(recognise(jobs, [elsewhere])?.owners).toBeNull()
    const prefixed = { ...workers, table: 'shop_procrastinate_workers' }
    expect(recognise({ ...jobs, table: 'shop_procrastinate_jobs' }, [prefixed])?.owners).toMatchObject({
      table: 'shop_procrastinate_workers',
    })
  })

  it('REAP-13 a queue is known by its columns, under any name and in any schema', () => {
    const columns = ['state', 'kind', 'attempted_at', 'attempted_by', 'finalized_at', 'max_attempts']
    expect(recognise(sighted('renamed', columns, 'elsewhere'))).toMatchObject({ name: 'River' })
    expect(recognise(sighted('river_job', columns.slice(1)))).toBeNull()
  })

  it('REAP-13 a table made by hand is not taken for Laravel’s: its times are no numbers', () => {
    const columns = ['id', 'status', 'queue', 'payload', 'attempts: integer']
    const times = ['reserved_at', 'available_at', 'created_at']
    const byHand = sighted('jobs', [...columns, ...times.map((name) => `${name}: ${TIME}`)], 'app')
    expect(recognise(byHand)).toMatchObject({ kind: 'hand-rolled' })
    const laravel = sighted('jobs', [...columns, ...times.map((name) => `${name}: integer`)], 'app')
    expect(recognise(laravel)).toMatchObject({ name: 'Laravel', epochColumns: times })
  })

  it('OPS-7 no attached table is taken for another queue’s, whatever attach has added to it', () => {
    const everyProfile = shippedProfileNames.map((name) => shippedProfile(name, 'unstuck'))
    for (const { tables } of everyProfile) {
      for (const table of tables) {
        const columns = logicalColumns.map((column) => columnName(table, column))
        expect(queueOf(sighted(table.table, [...columns, 'last_error']))).toBeNull()
      }
    }
  })
})

describe('tables of profiles', () => {
  it('REAP-8 a table of that name with other columns is not the profile’s', () => {
    expect(recognise(sighted('jobs', ['id', 'status', `last_heartbeat_at: ${TIME}`]))).toMatchObject({
      kind: 'profile',
      name: 'clip',
    })
    expect(recognise(sighted('jobs', ['id', 'status', 'title']))).toBeNull()
  })

  it('REAP-8 with a lease it is judged by the lease, and the next step is a reap', () => {
    const table = sighted(
      'jobs',
      ['id', 'status', `heartbeat_at: ${TIME}`, `lease_expires_at: ${TIME}`],
      'unstuck',
    )
    expect(recognise(table)).toMatchObject({
      name: 'native',
      ends: [{ column: 'lease_expires_at' }],
      next: 'unstuck reap --dry-run --profile native',
    })
  })
})

describe('hand-rolled tables', () => {
  const guess = (...columns: string[]) => recognise(sighted('things', columns))

  it('REAP-8 a status, a time and something that only jobs have make one', () => {
    expect(guess('status', `locked_at: ${TIME}`)).toMatchObject({ certainty: 'unsure' })
    expect(guess('status', `locked_at: ${TIME}`, 'locked_by', 'attempts')).toMatchObject({
      certainty: 'likely',
    })
    expect(guess('status', `updated_at: ${TIME}`)).toBeNull()
    expect(guess('status', 'locked_by', 'attempts')).toBeNull()
    expect(guess('title', `locked_at: ${TIME}`, 'locked_by')).toBeNull()
  })

  it('REAP-8 OPS-13 without a status a job runs from the time of its lock to that of its end', () => {
    const times = ['reserved_at', 'failed_at', 'completedAt'].map((name) => `${name}: ${TIME}`)
    expect(recognise(sighted('sync_jobs', times))).toMatchObject({
      running: [
        { column: 'reserved_at', isNull: false },
        { column: 'failed_at', isNull: true },
        { column: 'completedAt', isNull: true },
      ],
      timeColumns: ['reserved_at'],
    })
    expect(recognise(sighted('imports', [...times, 'attempts: integer']))).not.toBeNull()
    expect(recognise(sighted('tasks', [`started_at: ${TIME}`, `finished_at: ${TIME}`]))).toMatchObject({
      running: [
        { column: 'started_at', isNull: false },
        { column: 'finished_at', isNull: true },
      ],
    })
    // A status that is not understood could say otherwise.
    expect(recognise(sighted('sync_jobs', [...times, 'state: integer']))).toBeNull()
    expect(recognise(sighted('documents', [`locked_at: ${TIME}`, 'locked_by']))).toBeNull()
  })

  it.each<[string, string, string[], RegExp | null]>([
    ['a status of numbers', 'sync_jobs', ['state: integer', `locked_at: ${TIME}`], /no word of state/],
    ['no time', 'sync_jobs', ['status', 'attempts: integer'], /no time from which to judge/],
    [
      'a lock and its owner',
      'documents',
      [`locked_at: ${TIME}`, 'locked_by'],
      /no column that marks running rows/,
    ],
    ['a lock of an account', 'users', [`locked_at: ${TIME}`, 'email'], null],
    ['a status alone', 'orders', ['status', `updated_at: ${TIME}`], null],
  ])('OPS-13 a table with %s is named with the reason if it may hold jobs', (_, name, columns, reason) => {
    const table = sighted(name, columns)
    const why = unrecognised(table, [table], profiles)
    if (reason === null) expect(why).toBeNull()
    else expect(why).toMatch(reason)
  })

  it('REAP-8 without a primary key there is nothing to name a job by', () => {
    const table = sighted('things', ['status', `locked_at: ${TIME}`, 'locked_by', 'attempts'])
    expect(recognise({ ...table, primaryKey: [] })).toBeNull()
  })

  it('REAP-8 an enum must have a word for running, and only its own words are asked for', () => {
    expect(guess('state: NEW|InProgress|DONE', `lockedAt: ${TIME}`)?.running).toEqual([
      { column: 'state', words: ['InProgress'] },
    ])
    expect(guess('state: NEW|DONE|GONE', `lockedAt: ${TIME}`)).toBeNull()
  })

  it('REAP-8 an enum with words for waiting and running is a status under any name', () => {
    expect(guess('st: queued|running|done', `locked_at: ${TIME}`, 'attempts')?.running).toEqual([
      { column: 'st', words: ['running'] },
    ])
  })

  it('REAP-8 a word that others than jobs use counts only beside more signs', () => {
    expect(guess('state: active|gone', `locked_at: ${TIME}`)).toBeNull()
    expect(guess('state: active|gone', `locked_at: ${TIME}`, 'attempts')).not.toBeNull()
  })

  it('REAP-8 a lease goes before the newest time; an expiry of the job itself is no lease', () => {
    expect(guess('status', `lease_expires_at: ${TIME}`, `updated_at: ${TIME}`)).toMatchObject({
      ends: [{ column: 'lease_expires_at' }],
      timeColumns: ['updated_at'],
    })
    expect(guess('status', `expires_at: ${TIME}`, `updated_at: ${TIME}`)).toBeNull()
  })

  it('REAP-8 text is asked for a word in every way that people write it', () => {
    const running = guess('status', `locked_at: ${TIME}`, 'locked_by')?.running?.[0]
    const words = running !== undefined && 'words' in running ? running.words : []
    for (const word of [
      'in_progress',
      'IN_PROGRESS',
      'in-progress',
      'In Progress',
      'inProgress',
      'InProgress',
    ])
      expect(words).toContain(word)
    expect(words).not.toContain('done')
  })
})
