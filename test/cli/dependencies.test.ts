// Breakers and queues from the command line.
import { userInfo } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runInProcess } from './support/in-process.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase
let store: JobStore

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query(
    'truncate unstuck.jobs, unstuck.events, unstuck.breakers, unstuck.dependencies, unstuck.pauses cascade',
  )
})

const run = (...args: string[]) => runInProcess(args, { DATABASE_URL: database.url })
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>
const claim = () => store.claimJobs({ workerId: 'worker-1', queues: ['convert'], limit: 1 })

describe('breaker', () => {
  beforeEach(async () => {
    await store.mapDependency('convert', 'gateway')
    await store.enqueueJobs([{ type: 'convert' }])
  })

  it('BREAK-4 status lists every breaker with its queues, and exits with 1 where one is open', async () => {
    const closed = await run('breaker', 'status')
    expect(closed.exitCode).toBe(0)
    expect(closed.stdout).toMatch(/gateway +closed .*native\/convert/)
    await store.recordCalls(
      'gateway',
      Array.from({ length: 20 }, () => ({ isFailure: true })),
    )
    const open = await run('breaker', 'status', 'gateway', '--json')
    expect(open.exitCode).toBe(1)
    expect(parse(open.stdout)).toMatchObject({
      breakers: [{ name: 'gateway', state: 'open', failures: 20, calls: 20 }],
    })
  })

  it('BREAK-2 hold keeps jobs from being claimed, with who and why; resume lets them go on', async () => {
    const held = await run('breaker', 'hold', 'gateway', '--reason', 'INC-431', '--for', '10m', '--json')
    expect(held.exitCode).toBe(0)
    expect(parse(held.stdout)['breaker']).toMatchObject({
      state: 'held',
      reason: 'INC-431',
      changedBy: userInfo().username,
      heldForMs: expect.closeTo(600_000, -5) as number,
    })
    expect(await claim()).toEqual([])
    const resumed = await run('breaker', 'resume', 'gateway', '--reason', 'gateway is back')
    expect(resumed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('CLOSED') as string })
    expect(await claim()).toHaveLength(1)
  })

  it('OPS-8 a change without a reason, an odd duration and an unknown breaker are refused', async () => {
    for (const args of [
      ['hold', 'gateway'],
      ['resume', 'gateway'],
      ['hold', 'gateway', '--reason', 'x', '--for', 'soon'],
      ['hold', 'gateway', '--reason', 'x', '--for', '0m'],
    ]) {
      const { exitCode, stdout } = await run('breaker', ...args)
      expect([args, exitCode, stdout]).toEqual([args, 2, ''])
    }
    for (const args of [
      ['hold', 'gatewya', '--reason', 'x'],
      ['status', 'gatewya'],
    ]) {
      const { exitCode, stdout, stderr } = await run('breaker', ...args)
      expect([args, exitCode, stdout]).toEqual([args, 1, ''])
      expect(stderr).toContain('no breaker is called gatewya')
      expect(stderr).toContain('Breakers: gateway.')
    }
    expect((await store.listBreakers()).map(({ name, state }) => [name, state])).toEqual([
      ['gateway', 'closed'],
    ])
  })
})

describe('queues', () => {
  beforeEach(() => store.enqueueJobs([{ type: 'convert' }]))

  it('BREAK-2 a paused queue gives no job, shows who paused it and why, and continues when resumed', async () => {
    const paused = await run('queues', 'pause', 'convert', '--reason', 'new model', '--for', '2h')
    expect(paused.exitCode).toBe(0)
    expect(paused.stdout).toContain('queue convert PAUSED')
    expect(await claim()).toEqual([])
    const again = await run('queues', 'pause', 'convert', '--reason', 'newer model', '--json')
    expect(parse(again.stdout)).toMatchObject({
      table: 'jobs',
      changed: false,
      queue: { queue: 'convert', pauseReason: 'newer model', pausedForMs: null, due: 1 },
    })
    const resumed = await run('queues', 'resume', 'convert', '--json')
    expect(parse(resumed.stdout)).toEqual({ table: 'jobs', queue: 'convert', changed: true })
    expect(await claim()).toHaveLength(1)
  })

  it('BREAK-2 list shows waiting and running jobs, and the pause or breaker of every queue', async () => {
    await store.mapDependency('convert', 'gateway')
    await store.pauseQueue('asr', { reason: 'maintenance' })
    const { exitCode, stdout } = await run('queues', 'list')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/jobs +asr +0 +0 +– +0 +– +maintenance +–/)
    expect(stdout).toMatch(/jobs +convert +1 +1 +\d+ m?s +0 +– +– +gateway \(closed\)/)
    const { stdout: json } = await run('queues', 'list', '--json', '--table', 'jobs')
    expect(parse(json)['queues']).toHaveLength(2)
  })

  it('SEE-5 trends shows counts and durations by queue and type, and says if nothing happened', async () => {
    const quiet = await run('queues', 'trends', '--since', '2h')
    expect(quiet).toMatchObject({ exitCode: 0, stdout: 'nothing happened in the last 2 h\n' })
    const counts = { queue: 'convert', type: 'pdf', enqueued: 9, completed: 7, failed: 2, rescued: 1 }
    await store.recordTrends([{ ...counts, waits: [0, 0, 9], runs: [0, 0, 0, 0, 0, 0, 9] }], 0)
    const { stdout } = await run('queues', 'trends', '--queue', 'convert')
    expect(stdout).toMatch(/convert +pdf +9 +7 +2 +1 +< 5 ms \/ 5 ms +< 100 ms \/ 100 ms/)
    const total = await run('queues', 'trends', '--by', 'total', '--since', '1h')
    expect(total.stdout).toMatch(/SINCE[\s\S]*convert +pdf +9 +7 +2 +1 +< 5 ms \/ 5 ms +< 100 ms \/ 100 ms/)
    expect((await run('queues', 'trends', '--queue', 'others')).stdout).toContain('nothing happened')
    const refused = await run('queues', 'trends', '--by', 'week')
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('hour, minute') as string })
  })

  it('OPS-8 a pause without a reason and a table that is not there are refused', async () => {
    expect(await run('queues', 'pause', 'convert')).toMatchObject({ exitCode: 2 })
    expect(await run('queues', 'list', '--table', 'nothing')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('takes jobs') as string,
    })
    expect(await claim()).toHaveLength(1)
  })
})

it('BREAK-4 SEE-6 unstuck status names breakers that are not closed and queues that are paused, with the reason', async () => {
  await store.mapDependency('convert', 'gateway')
  await store.mapDependency('mail', 'smtp')
  const quiet = await run('status')
  expect(quiet.stdout).not.toContain('◐')
  await store.recordCalls(
    'gateway',
    Array.from({ length: 20 }, () => ({ isFailure: true })),
  )
  await store.pauseQueue('asr', { actor: 'ana', reason: 'maintenance' })
  const { stdout } = await run('status')
  expect(stdout).toMatch(/◐ breaker gateway OPEN for .* — 20 of the last 20 calls failed; next probe in/)
  expect(stdout).toMatch(/◐ queue asr PAUSED (?:now|.* ago) by ana — maintenance; 0 due; until it is resumed/)
  expect(stdout).not.toContain('smtp')
  const { stdout: json } = await run('status', '--json')
  expect(parse(json)).toMatchObject({
    breakers: [{ name: 'gateway', state: 'open' }],
    tables: [{ pausedQueues: [{ queue: 'asr', pauseReason: 'maintenance' }] }],
  })
})

it('SEE-7 unstuck status does not promise a probe where no job ever reports one', async () => {
  await store.mapDependency('convert', 'deaf')
  await store.writeBreaker('deaf', { minCalls: 1, closeAfter: 1 })
  await store.recordCalls('deaf', [{ isFailure: true }])
  await database.pool.query(
    "update unstuck.breakers set cooldown_until = now(), unheard = 1 where name = 'deaf'",
  )
  expect((await run('status')).stdout).toMatch(
    /breaker deaf HALF-OPEN for .* — its last job reported no call/,
  )
})

describe('limits', () => {
  it('RATE-4 shows the remaining tokens, also by owner', async () => {
    await database.pool.query('truncate unstuck.rate_limits')
    expect((await run('limits')).stdout).toContain('no rate limit was used')
    await store.takeTokens([{ key: 'gateway', ratePerS: 0.01, burst: 5 }], 2)
    await store.takeTokens([{ key: 'gateway:ana', ratePerS: 0.01, burst: 1 }])
    const listed = await run('limits')
    expect(listed.exitCode).toBe(0)
    expect(listed.stdout).toMatch(/gateway:ana +0 of 1 +0\.01\/s/)
    expect(listed.stdout).toMatch(/gateway +3 of 5/)
    const owners = await run('limits', '--prefix', 'gateway:', '--json')
    expect(parse(owners.stdout)).toMatchObject({ limits: [{ key: 'gateway:ana', tokens: 0 }] })
  })
})

describe('status', () => {
  it('SEE-5 shows the mode of each table', async () => {
    await store.setMode('observe')
    expect((await run('status')).stdout).toMatch(
      /^jobs · mode observe, set (?:now|.* ago): sweeps only record/,
    )
    await store.setMode('reap')
    const { tables } = parse((await run('status', '--json')).stdout)
    expect(tables).toMatchObject([{ table: 'jobs', mode: { mode: 'reap' } }])
  })
})
