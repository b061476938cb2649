import { describe, expect, it } from 'vitest'
import { clipProfile } from '../../../profile/clip.ts'
import type { TimeType } from '../../../profile/time-type.ts'
import { render } from './render.ts'

const [table] = clipProfile.tables
const rendered = (sql: string, timeTypes: Record<string, TimeType>) =>
  render(sql, { schema: 'unstuck', table, timeTypes })

const utc = { kind: 'zoneless', precision: 6, zone: 'UTC' } as const
const runAt = 'next_earliest_run_at'

describe('time columns', () => {
  it.each<[string, TimeType, string]>([
    ['UTC', utc, `(job."${runAt}" at time zone 'UTC')`],
    ['an offset', { ...utc, zone: '-03:30' }, `(job."${runAt}" at time zone '-03:30'::interval)`],
    ['seconds', { kind: 'epoch', unit: 's' }, `pg_catalog.to_timestamp(job."${runAt}"::float8)`],
    [
      'milliseconds',
      { kind: 'epoch', unit: 'ms' },
      `pg_catalog.to_timestamp(job."${runAt}"::float8 / 1000::float8)`,
    ],
    ['whole seconds with a zone', { kind: 'zoned', precision: 0 }, `job."${runAt}"`],
  ])('OPS-13 in %s are read as timestamptz', (_, type, expression) => {
    expect(rendered('job."run_at" <= now()', { [runAt]: type })).toBe(`${expression} <= pg_catalog.now()`)
  })

  it('OPS-13 of a zone with transitions are read as the latest they can mean', () => {
    const read = rendered('job."updated_at"', { updated_at: { ...utc, zone: 'Europe/Berlin' } })
    expect(read).toBe(`((job."updated_at" at time zone 'Europe/Berlin') + '1 hour'::interval)`)
  })

  it('OPS-13 are read the same way in an index', () => {
    const index =
      'create index if not exists "jobs_ready"\n  on "unstuck"."jobs" ((coalesce("run_at", "created_at")));'
    expect(rendered(index, { [runAt]: utc })).toContain(
      `coalesce(("${runAt}" at time zone 'UTC'), "created_at")`,
    )
  })

  it.each<[string, TimeType, string, string]>([
    ['the next second', { ...utc, precision: 0 }, '', " + '499999 microseconds'::interval"],
    ['the next millisecond', { ...utc, precision: 3 }, '', " + '499 microseconds'::interval"],
    ['nothing', utc, '', ''],
  ])('OPS-13 that are written are rounded up to %s', (_, type, before, after) => {
    const written = rendered('set "run_at" = v_at, "stage" = p_stage\n where job."id" = v_id', {
      [runAt]: type,
    })
    expect(written).toBe(
      `set "${runAt}" = ${before}((v_at)::timestamptz at time zone 'UTC')${after}, "stage" = p_stage\n where job."id" = v_id`,
    )
  })

  it('OPS-13 an assignment ends where its expression does', () => {
    const sql =
      'set "updated_at" = case when a = \'from, (\' then greatest(b, (select max(c) from d)) end where job."id" = e'
    expect(rendered(sql, { updated_at: utc })).toBe(
      'set "updated_at" = ((case when a = \'from, (\' then greatest(b, (select pg_catalog.max(c) from d)) end)' +
        '::timestamptz at time zone \'UTC\') where job."id" = e',
    )
    expect(rendered('/*+team_events "updated_at" = v_now */', { updated_at: utc })).toBe(
      `"updated_at" = ((v_now)::timestamptz at time zone 'UTC') `,
    )
    expect(rendered('new."updated_at" := v_now;', { updated_at: utc })).toBe(
      `new."updated_at" := ((v_now)::timestamptz at time zone 'UTC');`,
    )
    expect(rendered('"updated_at" = null, "run_at" = null\n from x', { updated_at: utc })).toBe(
      `"updated_at" = null, "${runAt}" = null\n from x`,
    )
  })

  it('OPS-13 columns on the right of an assignment are read', () => {
    expect(rendered('"updated_at" = coalesce(job."updated_at", v_now) from x', { updated_at: utc })).toBe(
      `"updated_at" = ((coalesce((job."updated_at" at time zone 'UTC'), v_now))::timestamptz at time zone 'UTC') from x`,
    )
  })

  it('OPS-13 the values of an INSERT are written each as its column', () => {
    const sql =
      'insert into "unstuck"."jobs" as job\n ("id", "created_at", "run_at")\n overriding system value\n' +
      ' select a.id,\n -- why, (\n v_now, least(v_at, b) from a'
    expect(
      rendered(sql, { created_at: { ...utc, precision: 0 }, [runAt]: { kind: 'epoch', unit: 'ms' } }),
    ).toBe(
      `insert into "public"."jobs" as job\n ("id", "created_at", "${runAt}")\n overriding system value\n` +
        ` select a.id,\n -- why, (\n ((v_now)::timestamptz at time zone 'UTC') - '500000 microseconds'::interval,` +
        ` pg_catalog.ceil(extract(epoch from ((least(v_at, b))::timestamptz at time zone 'UTC')) * 1000::numeric)` +
        `::bigint from a`,
    )
  })
})
