import { describe, expect, it } from 'vitest'
import { clipProfile } from '../../../profile/clip.ts'
import { nativeProfile } from '../../../profile/native.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import { readRoutines, readSqlFolder } from '../sql-files.ts'
import { qualifyBuiltInFunctions } from './built-in-functions.ts'
import { type RenderOptions, render } from './render.ts'

const native: RenderOptions = { schema: 'unstuck', table: nativeProfile('unstuck').tables[0] }
const [clipJobs] = clipProfile.tables
const clip: RenderOptions = { schema: 'unstuck', table: clipJobs, profile: 'clip' }
const withTable = (fields: Partial<TableProfile>): RenderOptions => ({
  ...clip,
  table: { ...clipJobs, ...fields },
})

const files = (['migrations', 'functions', 'queries', 'attach'] as const).flatMap((folder) =>
  readSqlFolder(folder).map(({ name, text }) => ({ path: `${folder}/${name}`, text })),
)

/** Without markers, and without blocks that the native table lacks. Nested comments count as one. */
function withoutMarkers(sql: string): string {
  let out = ''
  let depth = 0
  for (const part of sql.split(/(\/\*|\*\/)/)) {
    if (part === '/*') depth++
    else if (part === '*/') depth--
    else if (depth === 0) out += part
  }
  return out
}

const withTypedKeys = (sql: string) =>
  sql
    .replaceAll(/((?:->>?| \?) '(?:[^']|'')*')(?!::)/g, '$1::text')
    .replaceAll(/(#>>? '(?:[^']|'')*')(?!::)/g, '$1::text[]')

const qualified = (sql: string) =>
  withTypedKeys(sql).replaceAll(/--[^\n]*|'(?:[^']|'')*'|[^-']+|-/g, (run) =>
    /^(?:--|')/.test(run) ? run : qualifyBuiltInFunctions(run),
  )

/** Markers whose native rendering differs from the file: the same value, with its type or content written out. */
const spelledOut: [RegExp, string][] = [
  [/\/\*lowest_id\*\/('[-0]+')/g, '$1::uuid'],
  [/\/\*age\*\/\((greatest\([^)]*\))\)/g, '$1'],
  [/\/\*policy\*\/'\{\}'/g, `'${JSON.stringify(policyRow(native.table))}'`],
]

function policyRow({ policy }: TableProfile): Record<string, unknown> {
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(policy).map(([name, value]) => [snake(name), value]))
}

describe('the files of sql/', () => {
  it.each(files)(
    'OPS-7 $path is, rendered for the native table, what it says without its markers',
    ({ text }) => {
      const plain = spelledOut.reduce((sql, [pattern, spelled]) => sql.replaceAll(pattern, spelled), text)
      expect(render(text, { ...native, index: 'index' })).toBe(
        qualified(withoutMarkers(plain)).replace('"index"', '"unstuck"."index"'),
      )
    },
  )

  it.each(files)(
    'OPS-7 $path has, rendered for a team’s table, neither marker nor name of the native one',
    ({ text }) => {
      const rendered = render(text, { ...clip, schema: 'acme', index: 'index', isConcurrent: true })
      const code = rendered.replace(/--[^\n]*/g, '')
      expect(code).not.toContain('/*')
      expect(code).not.toMatch(/"unstuck"|"jobs_(?:ready|running|dedupe)"|"team_/)
    },
  )

  it.each(readRoutines())(
    'OPS-7 $name is the same for every table, unless its name says whose it is',
    ({ name, text, isPerTable }) => {
      const forTeam = render(text, clip)
      if (isPerTable) expect(forTeam).toContain(` "unstuck"."${name}__jobs"(`)
      else expect(forTeam).toBe(render(text, native))
    },
  )
})

describe('render', () => {
  it('OPS-7 gives names of the schema, the table, its columns, functions and indexes, each quoted', () => {
    const options = withTable({
      schema: 'Shop',
      table: 'or"der',
      columns: { id: 'Id', worker_id: 'locked by' },
      attachment: 'orders',
    })
    expect(render('"unstuck".x', { ...options, schema: 'acme' })).toBe('"acme".x')
    expect(render('"unstuck"."jobs"', options)).toBe('"Shop"."or""der"')
    expect(render('job."id", job."worker_id", job."stage"', options)).toBe(
      'job."Id", job."locked by", job."stage"',
    )
    expect(render('"unstuck"."claim_jobs"(1)', options)).toBe('"unstuck"."claim_jobs__orders"(1)')
    expect(render('"jobs_ready" "jobs_running" "jobs_dead" "jobs_dedupe"', options)).toBe(
      '"unstuck_orders_ready" "unstuck_orders_running" "unstuck_orders_dead" "unstuck_orders_keys"',
    )
    const unique = { ...options, table: { ...options.table, hasUniqueDedupeKey: true } }
    expect(render('"jobs_dedupe"', unique)).toBe('"unstuck_orders_dedupe"')
  })

  it('OPS-7 gives the words of the table, with a cast where the status is an enum', () => {
    const statuses = { ...clipJobs.statuses, running: ['running', 'processing'] as [string, ...string[]] }
    const words = `/*waiting*/'w' /*running*/'r' /*dead*/'d' /*cancelled*/'c' /*running_words*/('r')`
    expect(render(words, withTable({ statuses }))).toBe(
      `'queued' 'running' 'failed' 'failed' ('running', 'processing')`,
    )
    expect(
      render(`/*waiting*/'w' /*unfinished_words*/('w', 'r')`, { ...clip, statusType: '"public"."s"' }),
    ).toBe(`'queued'::"public"."s" ('queued'::"public"."s", 'processing'::"public"."s")`)
  })

  it('OPS-7 says each word of a list once', () => {
    expect(render(`/*ended_words*/('x')`, clip)).toBe(`('completed', 'failed')`)
  })

  it('C19 gives words and names with quotes and backslashes as literals that mean the same everywhere', () => {
    const statuses = { ...clipJobs.statuses, waiting: `it's`, dead: 'back\\slash' }
    expect(render(`/*waiting*/'w' /*dead*/'d'`, withTable({ statuses }))).toBe(`'it''s' E'back\\\\slash'`)
    expect(render(`/*table*/'jobs' /*table_schema*/'unstuck'`, withTable({ table: `o'b` }))).toBe(
      `'o''b' 'public'`,
    )
  })

  it('OPS-7 gives ids of the table’s own kind', () => {
    const id = '/*id*/uuid[] /*new_id*/("unstuck".uuid_v7())'
    expect(render(id, withTable({ idType: 'uuid' }))).toBe('uuid[] ("unstuck".uuid_v7())')
    expect(render(id, withTable({ idType: 'text' }))).toBe('text[] ("unstuck".uuid_v7())::text')
    expect(render(id, withTable({ idType: 'bigint', table: 'Or"der', columns: { id: 'No' } }))).toBe(
      `bigint[] pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('"public"."Or""der"', 'No'))`,
    )
  })

  it('REAP-8 judges the age of a row by the columns of the profile', () => {
    expect(render('/*age*/(now())', clip)).toBe(
      'greatest(job."last_heartbeat_at", job."started_at", job."updated_at")',
    )
    expect(render('/*age*/(now())', withTable({ ageColumns: ['created_at'] }))).toBe(
      'greatest(job."created_at")',
    )
  })

  it('REAP-9 writes to the team’s events where the profile has them, and markers inside the block count', () => {
    const block = `a/*+team_events insert into "team_events" ("team_job_id", "team_data") values ('1'::/*id*/uuid);*/ b`
    expect(render(block, clip)).toBe(
      `ainsert into "public"."job_events" ("job_id", "data") values ('1'::uuid); b`,
    )
    expect(render(block, native)).toBe('a b')
    expect(() => render('"team_events"', native)).toThrow('"team_events"')
  })

  it('OPS-7 touches no literal, no comment and no other text', () => {
    const text = `select 'a "jobs" /*id*/ -- x', /* "id" and 'this' */ 1 - 2 / 3 -- "unstuck" it's\n, $1::text`
    expect(render(text, clip)).toBe(text)
  })

  it.each([
    ['an unknown name', 'select "nobody"'],
    ['an unknown table of ours', 'select "unstuck"."no such"'],
    ['an unknown qualified name', 'select "public"."jobs"'],
    ['an unknown marker', `select /*nothing*/'x'`],
    ['a comment that is not closed', 'select 1 /* open'],
    ['a marked group that is not closed', 'select /*running_words*/(1'],
  ])('OPS-7 throws for %s, before anything is sent', (_, text) => {
    expect(() => render(text, clip)).toThrow(/is not a name|unknown marker|not closed/)
  })

  it('C19 refuses names that PostgreSQL would cut or cannot have', () => {
    expect(() => render('"id"', withTable({ columns: { id: 'x'.repeat(64) } }))).toThrow('1 to 63 bytes')
    expect(() => render('"id"', withTable({ table: 'a\0b' }))).toThrow('NUL')
    expect(() =>
      render(`/*waiting*/'w'`, withTable({ statuses: { ...clipJobs.statuses, waiting: '\0' } })),
    ).toThrow('NUL')
  })
})
