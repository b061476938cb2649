import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Snapshot } from '../../src/cli/top/read-snapshot.ts'
import { plainFrame } from '../../src/cli/top/top-frame.ts'
import { topRows } from '../../src/cli/top/top-rows.ts'
import { firstView } from '../../src/cli/top/top-view.ts'
import { nativePolicy } from '../../src/policy/policy.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore, Slo } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { noTerminal, openTerminal, type Terminal } from './support/pseudo-terminal.ts'
import { runCommand } from './support/run-command.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

let database: TestDatabase
let store: JobStore
const env = () => ({ DATABASE_URL: database.url })
const UP = '\u001B[A'
const DOWN = '\u001B[B'
const OPEN = '\u001B[?1049h'
const CLOSE = '\u001B[?25h\u001B[?1049l'

beforeAll(async () => {
  database = await createInstalledDatabase()
  const profile = nativeProfile('unstuck')
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())

let runningId: string
let deadId: string
beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.workers')
  await store.writePolicy(nativePolicy)
  const [running, dead] = await store.enqueueJobs([{ type: 'asr' }, { type: 'burnin' }])
  runningId = running?.jobId ?? ''
  deadId = dead?.jobId ?? ''
  const started = await store.claimJob(runningId, { workerId: 'alpha:7:aa', leaseMs: 600_000 })
  if (started === 'not-claimable') throw new Error('not claimed')
  await store.reportProgress([{ ...started, value: 0.4, text: 'page 12 of 30' }])
  const claimed = await store.claimJob(deadId, { workerId: 'beta:8:bb' })
  if (claimed === 'not-claimable') throw new Error('not claimed')
  await store.failJobs([{ ...claimed, code: 'NO_AUDIO', reason: 'no \u001B[31msound', isRetryable: false }])
  await store.reportWorker({
    workerId: 'alpha:7:aa',
    phase: 'running',
    types: ['asr'],
    concurrency: 4,
    running: 1,
    reportMs: 60_000,
  })
})

describe('without a terminal', () => {
  it('SEE-6 it shows one plain snapshot: leases, dead letters, workers and the promise', async () => {
    const { exitCode, stdout, stderr } = await runCommand(['top'], env())
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/● 0 past their lease/)
    expect(stdout).toMatch(/promise ≤ 72 s/)
    expect(stdout).toMatch(/RUNNING 1\n.*asr +▮{10} +10 min left +alpha:7:aa +attempt 1 +40 % +page 12 of 30/)
    expect(stdout).toMatch(/DEAD, newest 1\n.*burnin .*NO_AUDIO: no/)
    expect(stdout).toMatch(/WORKERS 1\n.*alpha:7:aa +live +1\/4/)
    expect(stdout).not.toContain('\u001B')
  })

  it('SEE-7 says what status and the dashboard say: an idle table is no alarm, a late rescue is, a killed worker is red', async () => {
    const slo = { rescued: 20, inTime: 19, p95Ms: 5_000, promiseMs: 72_000 } as Slo
    const health = { overdue: 0, running: 0, due: 0, reaperAgeMs: null, sweepIntervalMs: 10_000, atLeast: [] }
    const worker = {
      workerId: 'w1',
      state: 'gone',
      running: 0,
      concurrency: 4,
      types: ['asr'],
      seenMs: 5_000,
    }
    const snapshot = {
      now: new Date(),
      health: [{ table: 'jobs', value: { ...health, waiting: 0, hidden: null, isHealthy: true } }],
      slo: [{ table: 'jobs', value: slo }],
      workers: [{ table: 'jobs', value: worker }],
      running: [],
      dead: [],
      breakers: [],
      isComplete: true,
    } as unknown as Snapshot
    const lines = plainFrame(snapshot, topRows(snapshot, ''), firstView).flat()
    expect(lines).toContain('○ never swept  ')
    expect(lines).toContainEqual(['! rescue p95 5 s, 1 of 20 late, promise ≤ 72 s  ', 'yellow'])
    expect(lines).toContainEqual(['killed  ', 'red'])
  })

  it('SEE-6 --json prints the same for programs, and no id of a lease', async () => {
    const { stdout } = await runCommand(['top', '--json'], env())
    expect(JSON.parse(stdout)).toMatchObject({
      running: [{ table: 'jobs', id: runningId, workerId: 'alpha:7:aa' }],
      dead: [{ id: deadId }],
      workers: [{ value: { workerId: 'alpha:7:aa', state: 'live' } }],
      breakers: [],
    })
    const leaseId = (await store.getJob(runningId))?.leaseId
    expect(leaseId).toEqual(expect.any(String))
    expect(stdout).not.toContain(leaseId)
  })

  it('SEE-6 bars are of ASCII where the terminal shows nothing else', async () => {
    const { stdout } = await runCommand(['top', '--once'], { ...env(), LANG: 'C' })
    expect(stdout).toContain('##########')
  })
})

// python3 brings the pseudo terminal.
describe.skipIf(noTerminal !== null)('in a terminal', () => {
  const open = async (options = {}): Promise<Terminal> => {
    const terminal = openTerminal(['top'], { env: env(), ...options })
    await terminal.shown('alpha:7:aa')
    return terminal
  }
  const isRestored = ({ raw }: Terminal) =>
    raw().indexOf(OPEN) !== -1 && raw().lastIndexOf(CLOSE) > raw().lastIndexOf(OPEN)

  it('SEE-5 q leaves, and the terminal is as it was', async () => {
    const terminal = await open()
    terminal.type('q')
    expect(await terminal.ended).toBe(0)
    expect(isRestored(terminal)).toBe(true)
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('SEE-5 after %s the terminal is as it was', async (signal) => {
    const terminal = await open()
    terminal.kill(signal)
    await terminal.ended
    expect(isRestored(terminal)).toBe(true)
  })

  it('SEE-5 Ctrl-C leaves with 130', async () => {
    const terminal = await open()
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(130)
    expect(isRestored(terminal)).toBe(true)
  })

  it('SEE-5 a job is chosen, opened, and explained', async () => {
    const terminal = await open()
    terminal.type('j')
    await terminal.shown(/▸ .*asr/)
    terminal.type('\r')
    await terminal.shown(`job      ${runningId} in jobs`)
    await terminal.shown('progress 40 %: page 12 of 30')
    terminal.type('\u001B')
    await terminal.shown('RUNNING 1')
    terminal.type('w')
    await terminal.shown(`job ${runningId}: it is running`)
    terminal.type('q')
    await terminal.ended
  })

  it('SEE-5 / filters the rows as it is typed', async () => {
    const terminal = await open()
    terminal.type('/burn')
    await terminal.shown('/burn')
    await terminal.shown(/RUNNING 0\s+no match\s+DEAD, newest 1/)
    terminal.type('\u001B')
    await terminal.shown('RUNNING 1')
    terminal.type('q')
    await terminal.ended
  })

  it('SEE-5 R retries a dead job, once it was confirmed', async () => {
    const terminal = await open()
    terminal.type(DOWN)
    await terminal.shown(/▸ .*asr/)
    terminal.type('R')
    await terminal.shown('only a dead job can be retried')
    terminal.type(DOWN)
    await terminal.shown(/▸ .*burnin/)
    terminal.type('R')
    await terminal.shown(`Retry job ${deadId}? [y/N]`)
    terminal.type('n')
    await terminal.shown('nothing was changed')
    expect((await store.getJob(deadId))?.status).toBe('dead')
    terminal.type('R')
    await terminal.shown('[y/N]')
    terminal.type('y')
    await terminal.shown(`job ${deadId} retried: waiting for a worker`)
    expect((await store.getJob(deadId))?.status).toBe('waiting')
    terminal.type('q')
    await terminal.ended
  })

  it('SEE-5 D drains the worker of a job', async () => {
    const terminal = await open()
    terminal.type(DOWN)
    await terminal.shown(/▸ .*asr/)
    terminal.type(UP)
    terminal.type('D')
    await terminal.shown('Drain worker alpha:7:aa? It finishes its running jobs and stops. [y/N]')
    terminal.type('y')
    await terminal.shown('worker alpha:7:aa: draining')
    await expect.poll(async () => (await store.listWorkers())[0]?.drainReason).toBe('unstuck top')
    terminal.type('q')
    await terminal.ended
  })

  it('SEE-5 a terminal that is too small gets a message, and q still quits', async () => {
    const terminal = openTerminal(['top'], { env: env(), rows: 5, columns: 40 })
    await terminal.shown('too small: 40×5')
    terminal.type('q')
    expect(await terminal.ended).toBe(0)
  })

  it('SEE-5 text of a job cannot steer the terminal', async () => {
    const terminal = await open({ env: { ...env(), NO_COLOR: '1' } })
    await terminal.shown(String.raw`NO_AUDIO: no \x1b[31msound`)
    expect(terminal.raw()).not.toContain('\u001B[31m')
    terminal.type('q')
    await terminal.ended
  })
})
