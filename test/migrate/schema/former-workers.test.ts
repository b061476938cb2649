// Workers of the version before, on the schema of this one: they go on while a deploy replaces them. What they send is kept
// in fixtures/calls-0001.json: the statements, and the columns that they read where a statement says *.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import calls from './fixtures/calls-0001.json' with { type: 'json' }

type Statement = keyof typeof calls.statements

let database: TestDatabase
beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())

async function send(name: Statement, params: unknown[]): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query(calls.statements[name], params)
  return rows as Record<string, unknown>[]
}

it('OPS-7 every statement of the version before is understood', async () => {
  const client = await database.connect()
  const refused: string[] = []
  for (const [name, text] of Object.entries(calls.statements)) {
    const prepared = `former_${name}`
    await client
      .query(`prepare ${prepared} as ${text}`)
      .catch((error: unknown) => refused.push(`${name}: ${String(error)}`))
  }
  expect(refused).toEqual([])
})

it('OPS-7 every column that the version before reads is there', async () => {
  const { rows } = await database.pool.query<{ name: string; columns: string[] }>(
    `select proname::text as name, array_agg(returned.name) as columns
       from pg_proc,
            lateral (select attname::text as name from pg_type join pg_attribute on attrelid = typrelid
                      where pg_type.oid = prorettype and attnum > 0 and not attisdropped
                      union all
                     select named from unnest(proargnames, proargmodes) argument(named, mode)
                      where mode in ('t', 'o')) returned
      where pronamespace = 'unstuck'::regnamespace group by 1`,
  )
  const now = new Map(rows.map(({ name, columns }) => [name, columns]))
  const missing = Object.entries(calls.results).flatMap(([name, columns]) =>
    columns.filter((column) => now.get(name)?.includes(column) !== true).map((column) => `${name}.${column}`),
  )
  expect(missing).toEqual([])
})

it('OPS-7 a worker of the version before claims, beats, changes its stage and completes', async () => {
  const [enqueued] = await send('enqueue_jobs', [JSON.stringify([{ type: 'asr' }]), null])
  const claim = ['former', ['asr'], 10, null, null, null, null, null]
  const [claimed] = await send('claim_jobs', claim)
  expect(claimed).toMatchObject({ id: enqueued?.['id'], type: 'asr', attempt: 1 })
  const { id, lease_id } = claimed ?? {}
  expect(await send('heartbeat_jobs', [[id], [lease_id], null, null])).toMatchObject([{ answer: 'kept' }])
  expect(await send('enter_stage', [id, lease_id, 'burnin', null])).toMatchObject([{ outcome: 'entered' }])
  expect(await send('complete_jobs', [[id], [lease_id], [null], null])).toEqual([])
  expect(await send('complete_jobs', [[id], [randomUUID()], [null], null])).toMatchObject([
    { outcome: 'lease-lost' },
  ])
})

it('OPS-7 a worker of the version before fails and releases', async () => {
  await send('enqueue_jobs', [JSON.stringify([{ type: 'clip' }, { type: 'clip' }]), null])
  const [first, second] = await send('claim_jobs', ['former', ['clip'], 2, null, null, null, null, null])
  const failure = { id: first?.['id'], lease_id: first?.['lease_id'], code: 'X', reason: 'no' }
  expect(await send('fail_jobs', [JSON.stringify([failure]), null, null])).toMatchObject([
    { outcome: 'retried' },
  ])
  const release = [[second?.['id']], [second?.['lease_id']], null, 'release', 0, null, null]
  expect(await send('release_jobs', release)).toMatchObject([{ outcome: 'released' }])
})
