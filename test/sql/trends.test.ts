// Trends: what processes report and what is counted from the rows, added per minute and hour.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { trendBoundsMs } from '../../src/store/ports/trend-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const [table] = nativeProfile('unstuck').tables
const HOUR = 3_600_000

let database: TestDatabase
/** A minute of the recent past. */
let minute: Date
beforeEach(async () => {
  database = await createInstalledDatabase()
  const { rows } = await database.pool.query(
    `select date_trunc('minute', now()) - interval '5 minutes' as at`,
  )
  minute = rows[0].at
})
afterEach(() => database.drop())

const open = () => createPostgresStore({ client: database.pool, table })
const nothing = { enqueued: 0, completed: 0, failed: 0, rescued: 0, waits: [], runs: [] }
const runsOf = (...buckets: number[]) =>
  Array.from({ length: trendBoundsMs.length + 1 }, (_, bucket) => buckets.filter((b) => b === bucket).length)

async function plant(count: number, fields: Record<string, string>): Promise<void> {
  const names = Object.keys(fields)
  await database.pool.query(
    `insert into unstuck.jobs (id, ${names.join(', ')})
     select unstuck.uuid_v7(${inMinute(30)}), ${Object.values(fields).join(', ')}
       from generate_series(1, ${count})`,
  )
}

const inMinute = (second: number) =>
  `'${new Date(minute.getTime() + second * 1000).toISOString()}'::timestamptz`
/** How long ago the middle of the minute was. */
const sinceMinute = () => Date.now() - minute.getTime() - 30_000
const count = () => database.pool.query('select unstuck.count_trends($1)', [minute])

describe('trends', () => {
  it('SEE-5 the counts of several processes are added, per minute and per hour', async () => {
    const store = open()
    const counts = { ...nothing, queue: 'mail', type: 'welcome' }
    await store.recordTrends(
      [{ ...counts, enqueued: 2, completed: 3, waits: runsOf(2, 2), runs: runsOf(0, 4, 4) }],
      sinceMinute(),
    )
    const more = [{ ...counts, failed: 1, rescued: 1, runs: runsOf(9) }]
    const nextMs = await store.recordTrends(more, sinceMinute())
    expect(nextMs).toBeGreaterThan(0)
    expect(nextMs).toBeLessThanOrEqual(60_000)
    const sums = { queue: 'mail', type: 'welcome', enqueued: 2, completed: 3, failed: 1, rescued: 1 }
    const durations = { runP50Ms: 20, runP95Ms: 1_000, waitP50Ms: 5, waitP95Ms: 5, isBounded: false }
    const expected = [{ ...sums, ...durations }]
    expect(await store.listTrends({ sinceMs: 2 * HOUR, spanMin: 60 })).toMatchObject(expected)
    expect(await store.listTrends({ sinceMs: HOUR, spanMin: 1 })).toMatchObject(expected)
  })

  it('SEE-9 a sum has the percentiles of all durations together, and the busiest pair first', async () => {
    const store = open()
    const mail = { ...nothing, queue: 'mail', type: 'mail' }
    const fast = Array.from({ length: 18 }, () => 0)
    await store.recordTrends(
      [{ ...mail, completed: 18, waits: runsOf(...fast), runs: runsOf(...fast) }],
      sinceMinute(),
    )
    const slow = { ...mail, completed: 1, failed: 1, waits: runsOf(9, 9), runs: runsOf(9, 9) }
    const asr = { ...nothing, queue: 'asr', type: 'asr', completed: 3 }
    await store.recordTrends([slow, asr], sinceMinute() + 60_000)
    const [busiest, ...others] = await store.sumTrends({ sinceMs: HOUR, spanMin: 1 })
    expect(busiest).toMatchObject({ queue: 'mail', completed: 19, failed: 1 })
    expect(busiest).toMatchObject({ waitP50Ms: 1, waitP95Ms: 1_000, runP50Ms: 1, runP95Ms: 1_000 })
    expect(others).toMatchObject([{ queue: 'asr', completed: 3, waitP50Ms: null, runP95Ms: null }])
    expect(await store.sumTrends({ sinceMs: HOUR, spanMin: 1, type: 'asr' })).toHaveLength(1)
  })

  it('SEE-5 rows of the last minute are counted once, with their runs, whoever wrote them', async () => {
    const times = { created_at: inMinute(10), last_attempt_at: inMinute(11), finished_at: inMinute(13) }
    await plant(4, { type: `'clip'`, status: `'succeeded'`, ...times })
    await plant(1, { type: `'clip'`, status: `'dead'`, ...times })
    await plant(2, { type: `'clip'`, queue: `'slow'`, status: `'waiting'`, created_at: inMinute(20) })
    const store = open()
    await count()
    await count()
    const counted = await store.listTrends({ sinceMs: HOUR, spanMin: 1 })
    expect(counted).toMatchObject([
      { queue: 'clip', type: 'clip', enqueued: 5, completed: 4, failed: 1, rescued: 0 },
      { queue: 'slow', type: 'clip', enqueued: 2, completed: 0, failed: 0, waitP50Ms: null },
    ])
    // A claim clears the time at which a job was due: only workers know how long it waited.
    expect(counted[0]).toMatchObject({ waitP50Ms: null, runP50Ms: 5_000, isBounded: false })
  })

  it('SEE-5 what a process reports and what the rows show is not counted twice', async () => {
    const store = open()
    await plant(3, { type: `'clip'`, status: `'succeeded'`, finished_at: inMinute(30) })
    await count()
    const reported = { ...nothing, queue: 'clip', type: 'clip', completed: 5, runs: runsOf(1, 1, 1, 1, 1) }
    await store.recordTrends([reported], Date.now() - minute.getTime() - 30_000)
    const [clip] = await store.listTrends({ sinceMs: HOUR, spanMin: 1, type: 'clip' })
    expect(clip).toMatchObject({ enqueued: 3, completed: 5, runP50Ms: 2 })
  })

  it('SEE-5 a count from more rows than it reads is marked as a lower bound', async () => {
    await plant(20_001, { type: `'clip'`, status: `'succeeded'`, finished_at: inMinute(30) })
    const store = open()
    await count()
    const [clip] = await store.listTrends({ sinceMs: 2 * HOUR, spanMin: 60 })
    expect(clip).toMatchObject({ completed: 20_000, isBounded: true })
  })

  it('SEE-5 a count of more pairs of queue and type than it writes is marked as a lower bound', async () => {
    const types = `'type-' || generate_series`
    await plant(101, { type: types, status: `'succeeded'`, finished_at: inMinute(30) })
    const store = open()
    await count()
    const counted = await store.listTrends({ sinceMs: HOUR, spanMin: 1 })
    expect(counted.length).toBeGreaterThanOrEqual(100)
    expect(counted.every(({ isBounded }) => isBounded)).toBe(true)
  })

  it('SEE-5 pairs that processes count together are not counted twice if the rows name them', async () => {
    const store = open()
    // A process did 5 clips, and 7 jobs of types beyond its first hundred; 4 of those were mails.
    const others = { ...nothing, queue: '*', type: '*', enqueued: 7, completed: 7 }
    const clips = { ...nothing, queue: 'clip', type: 'clip', enqueued: 5, completed: 5 }
    await store.recordTrends([clips, others], sinceMinute())
    await plant(5, { type: `'clip'`, status: `'succeeded'`, finished_at: inMinute(30) })
    await plant(4, { type: `'mail'`, status: `'succeeded'`, finished_at: inMinute(30) })
    await count()
    for (const spanMin of [1, 60] as const) {
      const listed = await store.listTrends({ sinceMs: 2 * HOUR, spanMin })
      const counts = Object.fromEntries(
        listed.map(({ type, enqueued, completed }) => [type, [enqueued, completed]]),
      )
      expect(counts).toEqual({ '*': [3, 3], clip: [5, 5], mail: [4, 4] })
    }
  })

  it('SEE-5 OPS-8 a minute that has not ended is not counted, which would leave out its rest', async () => {
    const refused = database.pool.query('select unstuck.count_trends(now())')
    await expect(refused).rejects.toMatchObject({ code: 'UN001' })
    const { rows } = await database.pool.query('select count(*)::int from unstuck.trends')
    expect(rows).toEqual([{ count: 0 }])
  })

  it('SEE-5 sweeps that are rarer than minutes leave out none of the last fifteen', async () => {
    await plant(3, { type: `'clip'`, status: `'succeeded'`, finished_at: inMinute(30) })
    const before = new Date(minute.getTime() - 120_000).toISOString()
    await plant(2, { type: `'clip'`, status: `'dead'`, finished_at: `'${before}'::timestamptz` })
    const store = open()
    await store.countTrends()
    await store.countTrends()
    const counted = await store.listTrends({ sinceMs: HOUR, spanMin: 1 })
    expect(counted.map(({ completed, failed }) => [completed, failed])).toEqual([
      [3, 0],
      [0, 2],
    ])
  })

  it('SEE-5 cancelled jobs have not failed, and their runs are not counted', async () => {
    await plant(2, {
      type: `'clip'`,
      status: `'cancelled'`,
      last_attempt_at: inMinute(11),
      finished_at: inMinute(13),
    })
    const store = open()
    await count()
    const [clip] = await store.listTrends({ sinceMs: HOUR, spanMin: 1 })
    expect(clip).toMatchObject({ enqueued: 2, completed: 0, failed: 0, runP50Ms: null })
  })

  it('SEE-5 rows are deleted after 14 days', async () => {
    const store = open()
    await store.recordTrends([{ ...nothing, queue: 'old', type: 'old', completed: 1 }], 0)
    await database.pool.query(`update unstuck.trends set at = at - interval '14 days 2 hours'`)
    await count()
    const { rows } = await database.pool.query('select count(*)::int from unstuck.trends')
    expect(rows).toEqual([{ count: 0 }])
  })

  it.each([
    ['no array', '{}'],
    ['no queue', '[{"type": "a"}]'],
    ['a count below 0', '[{"type": "a", "queue": "a", "failed": -1}]'],
    ['a count that is no number', '[{"type": "a", "queue": "a", "failed": "x"}]'],
    ['a duration that is no number', '[{"type": "a", "queue": "a", "runs": ["x"]}]'],
    ['too many buckets', `[{"type": "a", "queue": "a", "runs": [${Array(26).fill('1').join(', ')}]}]`],
  ])('OPS-8 %s is refused, and nothing is written', async (_, counts) => {
    const refused = database.pool.query(`select unstuck.record_trends('native', $1)`, [counts])
    await expect(refused).rejects.toMatchObject({ code: 'UN001' })
  })

  it('SEE-5 the buckets of the runtime are those of SQL', async () => {
    const { rows } = await database.pool.query('select unstuck.trend_bounds() as bounds')
    expect(rows[0].bounds).toEqual(trendBoundsMs)
  })
})
