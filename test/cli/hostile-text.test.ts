// Types, owners, worker ids and errors come from applications and their users: they must not control the terminal.
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { elapse } from '../support/postgres-harness.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runInProcess } from './support/in-process.ts'
import { startCommand } from './support/run-command.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

/** A colour, a new line, a title by C1 controls, an erased line, reordered characters. */
const hostile = 'a\nb\u001B[31m'
const others = '\r\u009B2K\u0090title\u009C\u007F\u061C\u202Egpj.exe\u2069\u2028'
const worker = `w:1${others}`
const dependency = `gateway ${others}`
const reason = `gone ${hostile} ${others}`
const shown = String.raw`a\nb\x1b[31m`
const shownOthers = String.raw`\r\x9b2K\x90title\x9c\x7f\u061c\u202egpj.exe\u2069\u2028`
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not appear
const STEERING =
  // oxlint-disable-next-line no-control-regex -- these must not appear
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/u

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase
let store: JobStore
let dead: string
let causeId: string
let waiting: string

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
  dead = await failOne()
  const { jobs } = await store.listJobs({ status: 'dead' })
  causeId = jobs[0]?.causeId ?? ''
  await store.enqueueJobs([{ type: hostile, owner: hostile }])
  await store.claimJobs({ workerId: worker, queues: [hostile], limit: 1 })
  await elapse(database.pool, table, 'unstuck', 3_600_000)
  await store.reportWorker({
    workerId: worker,
    phase: 'running',
    version: others,
    types: [hostile],
    concurrency: 1,
    running: 1,
    reportMs: 15_000,
  })
  await store.mapDependency(hostile, dependency)
  await store.holdBreaker(dependency, { reason, actor: worker })
  const [job] = await store.enqueueJobs([{ type: hostile, owner: hostile }])
  waiting = job?.jobId ?? ''
})
afterAll(() => database.drop())

async function failOne(): Promise<string> {
  const [job] = await store.enqueueJobs([{ type: hostile, owner: hostile, payload: { note: others } }])
  const claimed = await store.claimJob(job?.jobId ?? '', { workerId: worker })
  if (claimed === 'not-claimable') throw new Error('not claimed')
  await store.failJobs([{ ...claimed, code: `E_${others}`, reason, stack: reason, isRetryable: false }])
  return claimed.jobId
}

const env = () => ({ DATABASE_URL: database.url })
const run = (...args: string[]) => runInProcess(args, env())

it.each([
  ['jobs list', () => ['jobs', 'list'], shown],
  ['jobs get', () => ['jobs', 'get', dead, '--payload'], shownOthers],
  ['why', () => ['why', waiting], shown],
  ['stuck', () => ['stuck'], shownOthers],
  ['reap --dry-run', () => ['reap', '--dry-run'], shownOthers],
  ['workers list', () => ['workers', 'list'], shownOthers],
  ['dead list', () => ['dead', 'list'], shownOthers],
  ['dead show', () => ['dead', 'show', causeId], shownOthers],
  ['queues list', () => ['queues', 'list'], shown],
  ['breaker status', () => ['breaker', 'status'], shownOthers],
  ['events', () => ['events'], shownOthers],
  ['top --once', () => ['top', '--once'], shown],
])('SEE-5 unstuck %s escapes what would steer a terminal', async (_, args, expected) => {
  const { stdout, stderr } = await run(...args())
  expect(stdout).toContain(expected)
  expect(`${stdout}${stderr}`).not.toMatch(STEERING)
})

it('SEE-5 a type with a line end does not forge a row of a table', async () => {
  const { stdout } = await run('jobs', 'list')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1 + 3)
})

it('SEE-5 an error message that repeats its argument is escaped', async () => {
  const { exitCode, stderr } = await run('jobs', 'get', hostile)
  expect(exitCode).not.toBe(0)
  expect(stderr).toContain(shown)
  expect(stderr).not.toMatch(STEERING)
})

it('SEE-5 --json prints the same values as ever, and no character that steers a terminal', async () => {
  const { stdout } = await run('jobs', 'get', dead, '--payload', '--json')
  expect(stdout).not.toMatch(STEERING)
  expect(JSON.parse(stdout)).toMatchObject({
    job: { type: hostile, owner: hostile, payload: { note: others }, error: { reason } },
  })
  const exported = await run('jobs', 'export', '--status', 'dead')
  expect(exported.stdout).not.toMatch(STEERING)
  expect(JSON.parse(exported.stdout)).toMatchObject({ type: hostile, error: { reason } })
})

it('SEE-1 the log lines of a worker are escaped', async () => {
  await store.resumeBreaker(dependency)
  const handlers = fileURLToPath(new URL('../surface/fixtures/hostile-handlers.mjs', import.meta.url))
  const running = startCommand(['worker', handlers], env())
  await running.said('job started')
  running.kill('SIGTERM')
  const { stdout } = await running.result
  expect(stdout).not.toMatch(STEERING)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; job_id?: string; type?: string })
  expect(lines.filter(({ event }) => event === 'job:started')).toMatchObject([
    { job_id: waiting, type: hostile },
  ])
})
