import { describe, expect, it } from 'vitest'
import { type InferredProfile, inferProfile } from './infer-profile.ts'
import type { ShapeColumn, TableShape } from './table-shape.ts'

const column = (type: string, more: Partial<ShapeColumn> = {}): ShapeColumn => ({
  type,
  isNullable: false,
  isGenerated: false,
  words: null,
  defaultWord: null,
  ...more,
})
const text = column('text')
const time = column('timestamp with time zone', { isNullable: true })
const status = column('text', {
  defaultWord: 'queued',
  words: ['queued', 'processing', 'completed', 'failed'],
})

function infer(
  columns: Record<string, ShapeColumn>,
  words: string[] = [],
  more: Partial<TableShape> = {},
): InferredProfile {
  const shape = {
    schema: 'public',
    table: 'jobs',
    primaryKey: ['id'],
    partitionColumns: [],
    columns: { id: column('uuid'), ...columns },
    ...more,
  }
  const inferred = inferProfile(shape, words)
  if ('problem' in inferred) throw new Error(inferred.problem)
  return inferred
}

describe('the state of a profile', () => {
  it('OPS-13 comes from the times of a table without a status, and the draft asks what they mean', () => {
    const { table, questions } = infer({ reserved_at: time, finished_at: time, failedAt: time })
    expect(table).toMatchObject({
      stateColumns: { running: 'reserved_at', succeeded: 'finished_at', dead: 'failedAt' },
      teamAgeColumns: ['reserved_at'],
      // The engine's own column of that name has another meaning.
      columns: { finished_at: 'unstuck_finished_at' },
    })
    expect(table).not.toHaveProperty('statuses')
    expect(questions).toContainEqual(expect.stringMatching(/^stateColumns.dead: failedAt: is it set only/))
  })

  it('OPS-13 of a table with the time of a lock alone has no end to its attempts', () => {
    const { table, questions } = infer({ locked_at: time })
    expect(table).toMatchObject({ stateColumns: { running: 'locked_at' }, policy: { maxCrashes: 1000 } })
    expect(questions).toContainEqual(expect.stringMatching(/unstuck claims none/))
  })

  it('OPS-13 is a column of any name that takes the words of a status', () => {
    const { table } = infer({
      colour: column('text', { words: ['new', 'red'] }),
      st: status,
      locked_at: time,
    })
    expect(table).toMatchObject({ columns: { status: 'st' }, statuses: { running: ['processing'] } })
    expect(table).not.toHaveProperty('stateColumns')
  })

  it('OPS-13 of a table with a status of numbers is not guessed', () => {
    expect(() => infer({ state: column('integer'), locked_at: time })).toThrow('its column state is integer')
    expect(() => infer({ created_at: time })).toThrow('no column looks like a status')
  })
})

describe('the times of a profile', () => {
  const zoneless = column('timestamp without time zone')

  it('OPS-13 without a zone are used as they are, in UTC, and the draft asks whether that is so', () => {
    const { table, questions } = infer({ status, created_at: zoneless, retryAfter: zoneless })
    expect(table).toMatchObject({ columns: { run_at: 'retryAfter' }, timeZone: 'UTC' })
    expect(questions).toContainEqual(expect.stringMatching(/^timeZone: created_at, retryAfter: no time zone/))
    expect(infer({ status, created_at: time }).table.timeZone).toBeUndefined()
  })

  it('OPS-13 that count from 1970 are used in the unit of their values', () => {
    const { table, questions } = infer({
      status,
      locked_until: column('bigint', { epochUnit: 'ms' }),
      available_at: column('integer', { epochUnit: 's' }),
    })
    expect(table).toMatchObject({ columns: { lease_expires_at: 'locked_until' }, epochUnit: 'ms' })
    expect(table.columns).not.toHaveProperty('run_at')
    expect(questions).toContainEqual(expect.stringMatching(/available_at counts in another unit/))
  })

  it('OPS-13 at which a worker was seen tell an age, even if the engine has no use for them', () => {
    const { table } = infer({
      status,
      locked_at: time,
      reserved_at: zoneless,
      modified_at: time,
      paid_at: time,
    })
    expect(table).toMatchObject({
      ageColumns: ['last_attempt_at', 'updated_at'],
      teamAgeColumns: ['reserved_at'],
    })
  })
})

describe('the columns of a profile', () => {
  it.each([
    ['locked_by', text, 'worker_id'],
    ['lock_owner', text, 'worker_id'],
    ['leasedBy', text, 'worker_id'],
    ['lock_until', time, 'lease_expires_at'],
    ['locked_until', time, 'lease_expires_at'],
    ['visible_at', time, 'lease_expires_at'],
    ['last_heartbeat_at', time, 'heartbeat_at'],
    ['attemptCount', column('integer'), 'attempt'],
    ['retries', column('smallint'), 'attempt'],
    ['next_earliest_run_at', time, 'run_at'],
    ['retryAfter', time, 'run_at'],
    ['available_at', time, 'run_at'],
    ['job_type', text, 'type'],
    ['kind', column('character varying'), 'type'],
    ['args', column('jsonb'), 'payload'],
    ['data', column('json'), 'payload'],
    ['last_error', text, 'error_reason'],
    ['completed_at', time, 'finished_at'],
    ['locked_at', time, 'last_attempt_at'],
  ])('OPS-7 %s is known by its name', (name, found, logical) => {
    expect(infer({ status, [name]: found }).table.columns).toEqual({ [logical]: name })
  })

  it('OPS-7 that have the engine’s own name need no word', () => {
    const { table } = infer({ status, worker_id: text, heartbeat_at: time, priority: column('integer') })
    expect(table.columns).toEqual({})
  })

  it.each<[string, string, ShapeColumn, RegExp]>([
    ['updated_at', 'is an integer without values', column('bigint'), /no row shows its unit of time/],
    ['updated_at', 'is no time', column('bigint', { epochUnit: null }), /its values are no times/],
    ['worker_id', 'is a number', column('integer'), /has type integer/],
    ['priority', 'may be NULL', column('integer', { isNullable: true }), /is nullable/],
    ['payload', 'is generated', column('jsonb', { isGenerated: true }), /is generated/],
  ])('OPS-7 %s that %s stays the team’s, and one of ours comes beside it', (name, _, found, question) => {
    const { table, questions } = infer({ status, [name]: found })
    expect(table.columns).toEqual({ [name]: `unstuck_${name}` })
    expect(questions).toContainEqual(expect.stringMatching(question))
  })

  it('OPS-7 a name of the engine’s whose meaning nobody knows is left alone', () => {
    const { table } = infer({ status, deadline_at: time, fence: column('bigint') })
    expect(table.columns).toEqual({ deadline_at: 'unstuck_deadline_at', fence: 'unstuck_fence' })
  })

  it('OPS-7 one column plays one role', () => {
    const { table } = infer({ status, attempts: column('integer'), retries: column('integer') })
    expect(table.columns).toEqual({ attempt: 'attempts' })
  })

  it('OPS-7 what a name leaves open is asked', () => {
    const { questions } = infer({ status, expires_at: time, max_retries: column('integer') })
    expect(questions).toContainEqual(expect.stringMatching(/^columns\.lease_expires_at: expires_at: .*\?$/))
    expect(questions).toContainEqual(expect.stringMatching(/^columns\.max_attempts: max_retries/))
  })

  it('REAP-8 the times that the table has are those by which old rows are judged', () => {
    const { table } = infer({ status, locked_at: time, updated_at: time, heartbeat_at: time })
    expect(table.ageColumns).toEqual(['heartbeat_at', 'last_attempt_at', 'updated_at'])
    expect(table.hasLockTime).toBe(true)
    expect(infer({ status }).table.ageColumns).toBeUndefined()
  })
})

describe('the words of a profile', () => {
  it('OPS-7 come from the type or the CHECK of the column, whatever their case', () => {
    const words = ['QUEUED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELED']
    const { table } = infer({ state: column('public.job_state', { words, defaultWord: 'QUEUED' }) })
    expect(table).toMatchObject({
      columns: { status: 'state' },
      statuses: {
        waiting: 'QUEUED',
        running: ['IN_PROGRESS'],
        succeeded: 'DONE',
        dead: 'FAILED',
        cancelled: 'CANCELED',
      },
    })
  })

  it('OPS-7 come from the rows where the column takes any', () => {
    const { table } = infer({ status: text }, ['pending', 'running', 'processing', 'succeeded', 'dead'])
    expect(table.statuses).toEqual({
      waiting: 'pending',
      running: ['processing', 'running'],
      succeeded: 'succeeded',
      dead: 'dead',
      cancelled: null,
    })
  })

  it('OPS-7 that have no role are named, and what nothing tells is a guess that says so', () => {
    const { table, questions, certainty } = infer({ status: text }, ['pending', 'on_hold'])
    expect(table.ignoredStatuses).toEqual(['on_hold'])
    expect(questions).toContainEqual(expect.stringMatching(/'on_hold' are left alone/))
    expect(questions).toContainEqual("statuses.running: nothing tells the word; 'processing' is a guess.")
    expect(certainty).toBe('unsure')
  })

  it('OPS-7 the default of the column is where a job begins', () => {
    const waiting = column('text', {
      words: ['pending', 'queued', 'running', 'done', 'failed'],
      defaultWord: 'pending',
    })
    expect(infer({ status: waiting }).table).toMatchObject({
      statuses: { waiting: 'pending' },
      ignoredStatuses: ['queued'],
    })
  })
})

describe('a table', () => {
  it.each([
    ['uuid', 'uuid'],
    ['integer', 'bigint'],
    ['bigint', 'bigint'],
    ['character varying', 'text'],
  ])('OPS-7 with %s ids has ids of type %s', (type, idType) => {
    expect(infer({ id: column(type), status }).table.idType).toBe(idType)
  })

  it.each<[string, Partial<TableShape>, RegExp]>([
    ['no primary key', { primaryKey: [] }, /no primary key/],
    ['a key of two columns', { primaryKey: ['tenant', 'id'] }, /\(tenant, id\)/],
    ['a key of another type', { columns: { id: column('numeric'), status } }, /id is numeric/],
    ['no status', { columns: { id: column('uuid') } }, /no column looks like a status/],
  ])('OPS-7 with %s gets no profile', (_, more, problem) => {
    const shape = {
      schema: 'public',
      table: 'jobs',
      primaryKey: ['id'],
      partitionColumns: [],
      columns: { id: column('uuid'), status },
      ...more,
    }
    expect(inferProfile(shape, [])).toMatchObject({ problem: expect.stringMatching(problem) })
  })

  it('OPS-7 that is partitioned has its id beside what it is partitioned by', () => {
    const more = { primaryKey: ['id', 'created_at'], partitionColumns: ['created_at'] }
    expect(infer({ status, created_at: column('timestamp with time zone') }, [], more).table.columns).toEqual(
      {},
    )
  })

  it('OPS-7 that is partitioned by what comes before its id in the key is refused: no index finds the id alone', () => {
    const more = { primaryKey: ['name', 'id'], partitionColumns: ['name'] }
    expect(() => infer({ status, name: text }, [], more)).toThrow('its primary key is (name, id)')
  })

  it('OPS-7 "status" is its status before "payment_status"', () => {
    expect(infer({ payment_status: text, status }).table.columns).toEqual({})
  })
})
