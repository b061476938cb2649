// Installing in a schema that Citus distributes, or will.

import pg from 'pg'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { migrateDown, migrateStatus, migrateUp } from '../../../src/store/postgres/index.ts'
import { readSqlFolder } from '../../../src/store/postgres/sql-files.ts'

const schema = 'installed'
const profile = nativeProfile(schema)
let target: { databaseUrl: string; schema: string; profile: typeof profile }
let client: pg.Client

beforeEach(async () => {
  target = { databaseUrl: inject('citusUrl'), schema, profile }
  client = new pg.Client({ connectionString: target.databaseUrl })
  await client.connect()
})
afterEach(async () => {
  await client.query(`drop schema if exists ${schema} cascade`)
  await client.end()
})

const isDistributed = async () => {
  const { rows } = await client.query(
    `select schema_name::text from citus_schemas where schema_name::text = $1`,
    [schema],
  )
  return rows.length === 1
}

const status = async () => {
  const { engine, isCurrent } = await migrateStatus(target)
  return { engine, isCurrent }
}

it('OPS-15 without being asked, the tables stay on the coordinator', async () => {
  await migrateUp(target)
  expect(await isDistributed()).toBe(false)
  expect(await status()).toEqual({ engine: 'current', isCurrent: true })
})

it('OPS-15 an engine in use is distributed with its jobs, stays so when upgraded, and can be removed', async () => {
  await migrateUp(target)
  await client.query(`select ${schema}.enqueue_jobs('[{"type": "mail"}, {"type": "mail"}]')`)
  await migrateUp({ ...target, distributes: true })
  expect(await isDistributed()).toBe(true)
  expect(await status()).toEqual({ engine: 'current', isCurrent: true })
  const claimed = await client.query(`select id from ${schema}.claim_jobs('w', '{mail}', 10)`)
  expect(claimed.rows).toHaveLength(2)

  const steps: string[] = []
  await migrateUp({ ...target, onStep: (step) => steps.push(step) })
  expect(steps.filter((step) => step.startsWith('distribute'))).toEqual([])
  expect(await status()).toEqual({ engine: 'current', isCurrent: true })

  expect(await migrateDown({ ...target, isPurge: true })).toBe(true)
  const { rows } = await client.query(`select to_regnamespace('${schema}') as left`)
  expect(rows).toEqual([{ left: null }])
}, 180_000)

it('OPS-15 a migration of several statements is applied to a distributed schema', async () => {
  await migrateUp({ ...target, distributes: true })
  const text = `-- The next one; with a comment.
    create domain "unstuck".next_ms as bigint;
    alter table "unstuck".sweeps add column next_value int;
    alter domain "unstuck".next_ms add constraint takes_milliseconds check (value > 0);
    create table "unstuck".next_things (
      attachment text not null references "unstuck".attachments on delete cascade,
      id bigint generated always as identity primary key, words text not null default 'a;b', ms "unstuck".next_ms);
    create index next_things_by_ms on "unstuck".next_things (ms);`
  await migrateUp({ ...target, migrations: [...readSqlFolder('migrations'), { name: '9999_next', text }] })
  await client.query(`insert into ${schema}.next_things (attachment, ms) values ('native', 1)`)
  const { rows } = await client.query(`select words, next_value from ${schema}.next_things
    join ${schema}.sweeps using (attachment)`)
  expect(rows).toEqual([{ words: 'a;b', next_value: null }])
}, 180_000)

it('OPS-15 tables of a team are not attached to a distributed engine', async () => {
  await expect(migrateUp({ ...target, profile: clipProfile, distributes: true })).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
    message: `schema ${schema} is distributed by Citus, and has the native table alone`,
  })
})

it('OPS-15 mode enforce, which needs a trigger, is refused with the reason', async () => {
  await migrateUp({ ...target, distributes: true })
  await expect(client.query(`select ${schema}.set_mode('enforce')`)).rejects.toMatchObject({
    code: 'UN006',
    message: 'the table is distributed by Citus, which has no triggers: mode enforce needs one',
  })
})
