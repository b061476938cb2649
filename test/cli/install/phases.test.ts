// A profile that is installed in phases.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { runInProcess } from '../support/in-process.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(executorTables)
})
afterAll(() => database.drop())

const unstuck = (...args: string[]) =>
  runInProcess(args, { DATABASE_URL: database.url, UNSTUCK_PROFILE: 'executor' })

const objects = async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select name from unstuck.team_objects order by name`,
  )
  return rows.map(({ name }) => name)
}

it('OPS-3 003 unstuck migrate up --phase installs the steps of the document one after the other, and down all of them', async () => {
  expect(await unstuck('migrate', 'up', '--phase', '1')).toMatchObject({ exitCode: 0 })
  expect(await objects()).toEqual([
    'process_orchestrator_jobs',
    'reclaim_stale_jobs',
    'wake_execution_engine',
  ])
  expect(await unstuck('migrate', 'up', '--phase', '2', '3')).toMatchObject({ exitCode: 0 })
  expect(await objects()).toHaveLength(7)
  expect(await unstuck('migrate', 'status')).toMatchObject({ exitCode: 0 })
  expect(await unstuck('migrate', 'down')).toMatchObject({ exitCode: 0 })
  const { rows } = await database.pool.query(
    `select proname from pg_proc where pronamespace = 'public'::regnamespace`,
  )
  expect(rows).toEqual([])
})

it('OPS-8 a phase that is no phase is refused, with those that are', async () => {
  const { exitCode, stderr } = await unstuck('migrate', 'up', '--phase', '4')
  expect(exitCode).not.toBe(0)
  expect(stderr).toContain('1, 2, 3')
})
