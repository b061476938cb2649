// Every routine that the catalogue has, with every argument NULL, out of range and hostile in turn: it answers, or refuses with
// an error of ours. New routines are found by themselves.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRoutines } from '../../../src/store/postgres/sql-files.ts'
import { digest } from '../digest.ts'
import { fineValue, hostileValues } from './hostile-values.ts'
import { openRefusalBench, type RefusalBench } from './refusal.ts'

interface Routine {
  name: string
  isProcedure: boolean
  arguments: { name: string; type: string; hasDefault: boolean }[]
}

let bench: RefusalBench
let routines: Routine[]
const nobody = `unstuck_test_${randomBytes(6).toString('hex')}_nobody`

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
  // A call that hangs is a fault too.
  await bench.client.query("set statement_timeout = '10s'")
  await bench.client.query(`create role ${nobody}`)
  routines = (await listRoutines(bench.client)).filter(({ name }) => isPublic(name))
})

afterAll(async () => {
  await bench.client.query(`drop role ${nobody}`)
  await bench.close()
})

async function listRoutines(client: pg.Client): Promise<Routine[]> {
  const { rows } = await client.query<{
    name: string
    is_procedure: boolean
    names: string[]
    types: string[]
    required: number
  }>(
    `select p.proname as name, p.prokind = 'p' as is_procedure,
            coalesce(p.proargnames[1:p.pronargs], '{}') as names, p.pronargs - p.pronargdefaults as required,
            array(select format_type(type, null) from unnest(p.proargtypes::oid[]) with ordinality t(type, n)
                   order by n) as types
       from pg_proc p where p.pronamespace = 'unstuck'::regnamespace and p.prorettype <> 'trigger'::regtype
         and p.provolatile <> 'i'
      order by p.proname`,
  )
  return rows.map(({ name, is_procedure, names, types, required }) => ({
    name,
    isProcedure: is_procedure,
    arguments: types.map((type, index) => ({
      name: names[index] ?? '',
      type,
      hasDefault: index >= required,
    })),
  }))
}

const sources = new Map(readRoutines().map(({ name, text }) => [name, text]))
const page = readFileSync(new URL('../../../docs/reference/sql-functions.md', import.meta.url), 'utf8')

/** One sweeps for a minute, as it is meant to; the other is a formula over a time that there is. */
const excepted = new Set(['run_sweeps', 'uuid_v7'])

/** Documented routines. The others, formulas among them, are called with checked arguments. */
function isPublic(name: string): boolean {
  return (
    !excepted.has(name) && sources.get(name)?.startsWith('-- Private:') === false && page.includes(`${name}(`)
  )
}

function callOf({ name, isProcedure, arguments: all }: Routine, change: Record<string, string>): string {
  const given = all
    .filter((argument) => !argument.hasDefault || argument.name in change)
    .map(
      (argument) => `${argument.name} => ${change[argument.name] ?? fineValue(argument.name, argument.type)}`,
    )
  return `${isProcedure ? 'call' : 'select * from'} unstuck.${name}(${given.join(', ')})`
}

/** The code of the error, or `answered`. What it wrote is taken back, unless it commits by itself. */
async function codeOf(client: pg.Client, call: string, isProcedure: boolean): Promise<string> {
  if (!isProcedure) await client.query('begin')
  try {
    await client.query(call)
    return 'answered'
  } catch (error) {
    const { code, message } = error as pg.DatabaseError
    return code === undefined ? `lost the connection: ${message}` : `${code} ${message}`
  } finally {
    if (!isProcedure) await client.query('rollback')
  }
}

/** JSON of any shape; new in every run, and the failing call is in the message. */
const documents = fc
  .sample(fc.jsonValue(), 20)
  .map((document) => `'${JSON.stringify(document).replaceAll("'", "''")}'::jsonb`)

describe('every public routine', () => {
  it('OPS-8 answers or refuses by its own code, whatever an argument is', { timeout: 120_000 }, async () => {
    const wrong: string[] = []
    for (const routine of routines) {
      for (const { name, type } of routine.arguments) {
        for (const value of [...hostileValues(type), ...(type === 'jsonb' ? documents : [])]) {
          const call = callOf(routine, { [name]: value })
          const before = routine.isProcedure ? await digest(bench.client) : ''
          const code = await codeOf(bench.client, call, routine.isProcedure)
          if (code !== 'answered' && !code.startsWith('UN'))
            wrong.push(`${call.slice(0, 200)} → ${code.slice(0, 200)}`)
          if (routine.isProcedure && code !== 'answered' && (await digest(bench.client)) !== before)
            wrong.push(`${call.slice(0, 200)} was refused and has written`)
        }
      }
    }
    expect(routines.length).toBeGreaterThan(50)
    expect(wrong).toEqual([])
  })

  it('OPS-8 is refused to a role without rights, and writes nothing', async () => {
    const before = await digest(bench.client)
    await bench.client.query(`set role ${nobody}`)
    const wrong: string[] = []
    for (const routine of routines) {
      const code = await codeOf(bench.client, callOf(routine, {}), routine.isProcedure)
      if (!code.startsWith('42501')) wrong.push(`${routine.name} → ${code}`)
    }
    await bench.client.query('reset role')
    expect(wrong).toEqual([])
    expect(await digest(bench.client)).toBe(before)
  })

  it('OPS-8 writes nothing for a role that may only see the schema', async () => {
    await bench.client.query(`grant usage on schema unstuck to ${nobody}`)
    const before = await digest(bench.client)
    await bench.client.query(`set role ${nobody}`)
    const wrong: string[] = []
    for (const routine of routines) {
      const code = await codeOf(bench.client, callOf(routine, {}), routine.isProcedure)
      if (code !== 'answered' && !/^(42501|UN)/.test(code)) wrong.push(`${routine.name} → ${code}`)
    }
    await bench.client.query('reset role')
    await bench.client.query(`revoke usage on schema unstuck from ${nobody}`)
    expect(wrong).toEqual([])
    expect(await digest(bench.client)).toBe(before)
  })
})
