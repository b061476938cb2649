import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { QueryClient } from '../../src/store/postgres/connection/executor.ts'
import { openConnectionPool } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())

function openOneConnection(): QueryClient {
  const pool = openConnectionPool({ databaseUrl: database.url, connections: 1 })
  onTestFinished(() => pool.close())
  return pool.client
}

async function rowsOf(client: QueryClient, text: string, params: unknown[]): Promise<unknown[]> {
  const answer = await client.query(text, params)
  return 'rows' in answer ? answer.rows : [...answer]
}

async function repeat(client: QueryClient, text: string, times: number): Promise<unknown> {
  let answer: unknown
  for (let nth = 0; nth < times; nth++) [answer] = await rowsOf(client, text, [nth])
  return answer
}

const prepared = (client: QueryClient) =>
  rowsOf(client, 'select statement from pg_prepared_statements where statement not like $1', ['%prepared%'])

it('LEASE-1 a direct connection parses a statement that it repeats once', async () => {
  const client = openOneConnection()
  await repeat(client, 'select $1::int as few', 8)
  expect(await prepared(client)).toEqual([])
  expect(await repeat(client, 'select $1::int as many', 20)).toEqual({ many: 19 })
  expect(await prepared(client)).toEqual([{ statement: 'select $1::int as many' }])
})

it('LEASE-1 a statement whose answer a migration changes is sent again, unnamed', async () => {
  const client = openOneConnection()
  await database.pool.query('create table changing (a int); insert into changing values (1)')
  const text = 'select * from changing where a > $1 - 100'
  expect(await repeat(client, text, 20)).toEqual({ a: 1 })
  await database.pool.query('alter table changing add b int default 2')
  expect(await repeat(client, text, 3)).toEqual({ a: 1, b: 2 })
})

it('LEASE-1 an error of a named statement reaches the caller, and the connection goes on', async () => {
  const client = openOneConnection()
  await expect(repeat(client, 'select 10 / $1::int', 1)).rejects.toThrow('division by zero')
  await repeat(client, 'select $1::int as one', 20)
  const text = 'select 10 / (5 - $1::int) as quotient'
  await expect(repeat(client, text, 7)).rejects.toThrow('division by zero')
  expect(await repeat(client, text, 3)).toEqual({ quotient: 3 })
})
