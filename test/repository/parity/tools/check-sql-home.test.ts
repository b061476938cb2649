import { describe, expect, it } from 'vitest'
import { loadCheck } from './fixture-tree.ts'

const check = await loadCheck('check/sql-home')

describe('literals in TypeScript', () => {
  it.each([
    "'select id from jobs'",
    "'SELECT *\\n  FROM jobs'",
    "'select unstuck.claim_jobs($1)'",
    "'select 1'",
    "'  insert into jobs (id) values ($1)'",
    "'update jobs set status = $1'",
    "'delete from jobs where id = $1'",
    "'with due as (select 1) select 1'",
    "'create table if not exists jobs (id int)'",
    "'create or replace function f() returns int'",
    "'create unique index concurrently i on t (id)'",
    "'alter table jobs add column x int'",
    "'drop schema unstuck cascade'",
    "'create trigger t before update on jobs'",
    "'set local lock_timeout = 1'",
    "'listen unstuck_jobs'",
    "'notify unstuck_jobs, $1'",
    "'call unstuck.sweep(1)'",
    "'do $$ begin end $$'",
    "'/* claim */ select id from jobs'",
    "'-- claim\\nselect id from jobs'",
    'sql`select * from ${table}`',
    '`update ${table} set ${columns}`',
    "'select ' + columns + ' from jobs'",
    "'begin'",
    "'COMMIT;'",
    "'rollback'",
    "'begin isolation level repeatable read'",
    "'savepoint one'",
    "'rollback to savepoint one'",
    "'release savepoint one'",
  ])('%s is SQL outside its home', (literal) => {
    const statement = `\nrun(${literal})`
    expect(check({ 'src/runtime/a.ts': statement })).toEqual([
      expect.stringContaining('src/runtime/a.ts:2 SQL outside sql/: '),
    ])
    expect(check({ 'embedded/src/a.ts': statement })).toHaveLength(1)
  })

  it.each([
    "'select a profile from the list'",
    "'Select the table from which jobs are read'",
    "'select one of the profiles from your configuration'",
    "'select column(s)'",
    "'update the settings, then set DATABASE_URL'",
    "'insert into the map'",
    "'delete from the list'",
    "'create table failed'",
    "'set DATABASE_URL to a connection string'",
    "'with care as ever'",
    "'listen on port 80'",
    "'begins'",
    "'release jobs'",
    "'commit the transaction first'",
    "'the server answered: select id from jobs'",
  ])('%s is prose', (literal) => {
    expect(check({ 'src/runtime/a.ts': `log(${literal})` })).toEqual([])
  })

  it('comments, types, property names and tests do not count', () => {
    expect(
      check({
        'src/runtime/a.ts':
          "// select id from jobs\ntype End = 'commit' | 'rollback'\nconst ends = { 'begin': 1, commit: 2 }",
        'src/runtime/a.test.ts': "run('select id from jobs')",
        'src/store/conformance/lifecycle/claim.ts': "run('select id from jobs')",
      }),
    ).toEqual([])
  })

  it('transaction control is allowed at the wire level only, and statements not even there', () => {
    expect(check({ 'src/store/postgres/tx.ts': "run('begin')\nrun('commit')\nrun('savepoint a')" })).toEqual(
      [],
    )
    expect(check({ 'src/store/postgres/tx.ts': "run('begin')\nrun('delete from jobs')" })).toEqual([
      'src/store/postgres/tx.ts:2 SQL outside sql/: delete from jobs',
    ])
  })
})

describe('files of sql/', () => {
  const routine = (name: string) =>
    `create or replace function ${name}(p_id int) returns int as $$\nbegin\nend $$;\n`
  const privateRoutine = (name: string) => `-- Private: one line\n-- and another.\n${routine(name)}`

  it('one public function or procedure with the name of its file passes, and private ones that share a file', () => {
    expect(
      check({
        'sql/functions/claim_jobs.sql': `-- create function other()\n${routine('unstuck.claim_jobs')}`,
        'sql/functions/policy/backoff_ms.sql': routine('"unstuck"."backoff_ms"'),
        'sql/functions/policy/write_policy.sql':
          routine('unstuck.write_policy') + privateRoutine('unstuck.require_policy'),
        'sql/functions/policy/checks.sql': privateRoutine('unstuck.a') + privateRoutine('unstuck.b'),
        'sql/functions/sweep.sql': 'create procedure "unstuck"."sweep"() as $x$ create function inner() $x$;',
        'sql/queries/list.sql': 'select 1',
        'sql/schema.snapshot.sql': '-'.repeat(200),
      }),
    ).toEqual([])
  })

  it('a file with two public functions, none, or one of another name is refused', () => {
    expect(
      check({
        'sql/functions/a.sql': routine('a') + routine('b'),
        'sql/functions/b.sql': '-- nothing yet',
        'sql/functions/c.sql': `\n${routine('unstuck.d')}`,
      }),
    ).toEqual([
      'sql/functions/a.sql:4 defines b: the file should be b.sql',
      'sql/functions/b.sql:1 defines no function',
      'sql/functions/c.sql:2 defines d: the file should be d.sql',
    ])
  })

  it('tabs and lines over 120 characters are refused', () => {
    expect(check({ 'sql/views/v.sql': `select\t1;\n-- ${'x'.repeat(118)}` })).toEqual([
      'sql/views/v.sql:1 has a tab character',
      'sql/views/v.sql:2 is 121 characters long, over 120',
    ])
  })

  it('a backslash in a plain literal is refused, for standard_conforming_strings can be off', () => {
    const body = (text: string) => `create function a() returns text as $$\nselect ${text} -- it's \\d\n$$;`
    const refused = [
      expect.stringContaining('sql/functions/a.sql:2 has a backslash in a plain literal') as string,
    ]
    expect(check({ 'sql/functions/a.sql': body(String.raw`'^\d+$'`) })).toEqual(refused)
    expect(check({ 'sql/functions/a.sql': body(String.raw`'it''s', '\'`) })).toEqual(refused)
    expect(check({ 'sql/functions/a.sql': body(String.raw`E'\t', '^[0-9]+$', E'it\'s'`) })).toEqual([])
  })
})
