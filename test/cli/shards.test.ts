// The command line over two shards: schemas of one database.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runInProcess } from './support/in-process.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const run = (...args: string[]) =>
  runInProcess(args, { UNSTUCK_SHARDS: `${database.url} ${database.url}#unstuck_b` })

it('OPS-15 migrate up installs every shard with its number, and status shows each', async () => {
  const up = await run('migrate', 'up')
  expect(up).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('schema unstuck_b of shard 1') })
  const { rows } = await database.pool.query(
    'select unstuck.shard_number() as a, unstuck_b.shard_number() as b',
  )
  expect(rows).toEqual([{ a: 0, b: 1 }])
  const { exitCode, stdout } = await run('migrate', 'status', '--json')
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    shards: [
      { shard: 0, schema: 'unstuck', isCurrent: true },
      { shard: 1, schema: 'unstuck_b', isCurrent: true },
    ],
  })
})

it('OPS-15 shards in another order are refused', async () => {
  const swapped = { UNSTUCK_SHARDS: `${database.url}#unstuck_b ${database.url}` }
  const { exitCode, stderr } = await runInProcess(['migrate', 'up'], swapped)
  expect(exitCode).toBe(2)
  expect(stderr).toContain('schema unstuck_b is shard 1, not shard 0')
})

it('OPS-15 other commands work on all shards, or on the one that --shard or --table names', async () => {
  const all = await run('jobs', 'list', '--json')
  expect({ exitCode: all.exitCode, stderr: all.stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(await run('jobs', 'list', '--shard', '1')).toMatchObject({ exitCode: 0 })
  expect(await run('jobs', 'list', '--table', 'jobs:1')).toMatchObject({ exitCode: 0 })
  expect((await run('jobs', 'list', '--shard', '7')).stderr).toContain('--shard: got "7", takes 0, 1')
  expect((await run('jobs', 'list', '--table', 'jobs:7')).stderr).toContain('takes jobs')
  expect((await run('migrate', 'down', '--yes')).exitCode).toBe(2)
})

it('OPS-15 a number of shards stands for that many schemas of one database', async () => {
  const counted = { UNSTUCK_SHARDS: '2', DATABASE_URL: database.url }
  const up = await runInProcess(['migrate', 'up', '--json'], counted)
  const { shards } = JSON.parse(up.stdout) as { shards: { schema: string; shard: number }[] }
  expect(shards.map(({ schema, shard }) => ({ schema, shard }))).toEqual([
    { schema: 'unstuck_00', shard: 0 },
    { schema: 'unstuck_01', shard: 1 },
  ])
  const status = await runInProcess(['migrate', 'status', '--shards', '2'], { DATABASE_URL: database.url })
  expect(status).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('schema unstuck_01 of shard 1'),
  })
})
