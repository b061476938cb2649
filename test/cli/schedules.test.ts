import { userInfo } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runInProcess } from './support/in-process.ts'

let database: TestDatabase
let store: JobStore
beforeAll(async () => {
  const profile = nativeProfile('unstuck')
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())

beforeEach(async () => {
  await database.pool.query('delete from unstuck.schedules')
})

const run = (...args: string[]) => runInProcess(['schedules', ...args], { DATABASE_URL: database.url })
const write = () =>
  store.writeSchedule({
    name: 'nightly-report',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    job: { type: 'report' },
    nextRunAt: new Date('2030-01-31T02:00:00Z'),
  })

it('WORK-7 schedules list shows each with its next run', async () => {
  expect(await run('list')).toMatchObject({ exitCode: 0, stdout: 'no schedules\n' })
  await write()
  const { exitCode, stdout } = await run('list')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(
    /nightly-report +0 3 \* \* \* +Europe\/Berlin +report +2030-01-31T02:00:00Z +never +never/,
  )
})

it('WORK-7 schedules list --json prints one object', async () => {
  await write()
  const { stdout } = await run('list', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    schedules: [
      {
        table: 'jobs',
        name: 'nightly-report',
        overlap: 'skip',
        job: { type: 'report' },
        nextRunAt: '2030-01-31T02:00:00.000Z',
        lastRunAt: null,
      },
    ],
  })
})

it('WORK-7 SEE-8 schedules delete ends one, with an audit entry, and says where there is none', async () => {
  await write()
  const first = await run('delete', 'nightly-report', '--json')
  expect(first.exitCode).toBe(0)
  expect(JSON.parse(first.stdout)).toEqual({ name: 'nightly-report', deletedFrom: ['jobs'] })
  expect((await store.listSchedules()).schedules).toEqual([])
  const { rows } = await database.pool.query(
    "select subject, actor from unstuck.audit_entries where type = 'schedule-deleted'",
  )
  expect(rows).toEqual([{ subject: 'nightly-report', actor: userInfo().username }])
  const second = await run('delete', 'nightly-report')
  expect(second).toMatchObject({ exitCode: 1, stdout: '' })
  expect(second.stderr).toContain('no schedule is called "nightly-report"')
})

it('OPS-8 schedules delete refuses a table that the profile has not', async () => {
  await write()
  const { exitCode, stderr } = await run('delete', 'nightly-report', '--table', 'other')
  expect(exitCode).toBe(2)
  expect(stderr).toContain('--table: got "other", takes jobs')
  expect((await store.listSchedules()).schedules).toHaveLength(1)
})
