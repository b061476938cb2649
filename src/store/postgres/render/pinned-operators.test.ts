import { describe, expect, it } from 'vitest'
import { nativeProfile } from '../../../profile/native.ts'
import { type StatusKind, withExactOperands } from './pinned-operators.ts'

const [table] = nativeProfile('unstuck').tables
const exact = (sql: string, statusKind: StatusKind) => withExactOperands(sql, { table, statusKind })

describe('withExactOperands', () => {
  const waiting = `job."status" = /*waiting*/'waiting'`
  const running = `job."status" in /*running_words*/('running')`
  const held = `job."status" is not distinct from /*any_running*/'running'`

  it('OPS-12 compares a status of varying length as text', () => {
    expect(exact(waiting, 'text')).toBe(`job."status"::text = /*waiting*/'waiting'`)
    expect(exact(running, 'text')).toBe(`job."status"::text in /*running_words*/('running')`)
    expect(exact(held, 'text')).toBe(`job."status"::text is not distinct from /*any_running*/'running'`)
  })

  it('OPS-12 compares an enum by the operators of pg_catalog, which fit its indexes', () => {
    expect(exact(waiting, 'enum')).toBe(`job."status" operator(pg_catalog.=) /*waiting*/'waiting'`)
    expect(exact(running, 'enum')).toBe(
      `job."status" operator(pg_catalog.=) /*running_words_any*/('running')`,
    )
    expect(exact(running.replace('in', 'not in'), 'enum')).toBe(
      `job."status" operator(pg_catalog.<>) /*running_words_all*/('running')`,
    )
    expect(exact(`where "status" = /*dead*/'dead'`, 'enum')).toBe(
      `where "status" operator(pg_catalog.=) /*dead*/'dead'`,
    )
    expect(exact(`old."status" is distinct from new."status"`, 'enum')).toBe(
      `old."status"::text is distinct from new."status"::text`,
    )
  })

  it('OPS-12 leaves what an update sets alone', () => {
    const set = `set "status" = /*dead*/'dead', "run_at" = null`
    expect(exact(set, 'text')).toBe(set)
    expect(exact(set, 'enum')).toBe(set)
  })

  it('OPS-12 compares ids that are text as text, and others as they are', () => {
    const ids = `where job."id" = give.id and x.id <> job."id" and job."id"::text = 'a' and (a, job."id") < (b, c)`
    expect(withExactOperands(ids, { table })).toBe(ids)
    expect(withExactOperands(ids, { table: { ...table, idType: 'text' } })).toBe(
      `where job."id"::text = give.id and x.id <> job."id"::text and job."id"::text = 'a' and (a, job."id"::text) < (b, c)`,
    )
  })
})
