// Handlers in processes of their own, below real workers on a real database.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { hasStatus, openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'

let database: TestDatabase
let harness: WorkerHarness
let folder: string

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
afterAll(async () => {
  await harness.close()
  await database.drop()
})
beforeEach(async () => {
  await harness.reset()
  folder = mkdtempSync(join(tmpdir(), 'unstuck-child-'))
})
afterEach(async () => {
  await harness.endWorkers()
  rmSync(folder, { recursive: true, force: true })
})

async function enqueue(mode: string): Promise<{ jobId: string; file: string }> {
  const file = join(folder, mode)
  const [jobId = ''] = await harness.enqueue('in-child', { mode, file })
  return { jobId, file }
}

async function pidIn(file: string): Promise<number> {
  await vi.waitUntil(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 30_000 })
  return Number(readFileSync(file, 'utf8'))
}

/** The dead who wait to be reaped by process 1 do not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

it('LEASE-8 an endless loop in a child is killed at its deadline, and the slot is back without a leak', async () => {
  await harness.store.writePolicy({ stageDeadlinesMs: { 'in-child': 2_000 }, maxTimeouts: 2 })
  const { jobId, file } = await enqueue('loops')
  const worker = harness.work({ concurrency: 1, hangGraceMs: 2_000, leakBudget: 0 })
  const pid = await pidIn(file)
  expect(await harness.untilJob(jobId, hasStatus('dead'))).toMatchObject({
    timeouts: 2,
    failures: 0,
    crashes: 0,
    error: { code: 'timeout' },
  })
  expect(isRunning(pid)).toBe(false)
  const echo = await enqueue('echo')
  expect((await harness.untilJob(echo.jobId, hasStatus('succeeded'))).result).toMatchObject({ isDate: true })
  expect(worker.told.filter(({ kind }) => kind === 'hung')).toEqual([])
})

it('FAIL-3 a permanent error that is thrown in a child ends the job with its code', async () => {
  const { jobId } = await enqueue('permanent')
  harness.work()
  expect((await harness.untilJob(jobId, hasStatus('dead'))).error).toMatchObject({
    code: 'NOT_PDF',
    category: 'PERMANENT',
  })
})

it('REAP-1 a child dies with its killed worker, also while it blocks its own loop', async () => {
  const [looping, hanging] = [await enqueue('loops'), await enqueue('hangs')]
  const worker = harness.work()
  const pids = [await pidIn(looping.file), await pidIn(hanging.file)]
  worker.child.kill('SIGKILL')
  await vi.waitUntil(() => !pids.some(isRunning), { timeout: 30_000 })
})

it('WORK-4 a deploy releases a job whose child does not stop, and no attempt is spent', async () => {
  const { jobId, file } = await enqueue('loops')
  const worker = harness.work({ graceMs: 200 })
  const pid = await pidIn(file)
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect(isRunning(pid)).toBe(false)
  expect(await harness.store.getJob(jobId)).toMatchObject({
    status: 'waiting',
    attempt: 0,
    failures: 0,
    interruptions: 1,
  })
})
