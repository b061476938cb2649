// A worker that knows no leases beside one that does, as real processes, in each mode of the table.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../cli/support/run-command.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { hasStatus, openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts'

let database: TestDatabase
let harness: WorkerHarness
let old: WorkerProcess

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
  await harness.store.writePolicy({ legacyAgeRule: true })
  old = startWorkerProcess(database.url, {}, { app: 'old-worker' })
  await old.until(({ kind }) => kind === 'ready')
})
afterEach(async () => {
  old.child.kill('SIGKILL')
  await Promise.all([old.ended, harness.endWorkers()])
  await harness.store.setMode('reap')
})

const mode = async (...args: string[]) => {
  const { exitCode, stdout } = await runCommand(['mode', ...args], { DATABASE_URL: database.url })
  expect(exitCode).toBe(0)
  return stdout
}
const settle = async (jobId: string) => {
  old.child.send({ ask: 'settle', jobId })
  return old.until(({ kind }) => kind === 'settled' || kind === 'refused')
}
const claim = async () => {
  old.child.send({ ask: 'claim' })
  return (await old.until(({ kind }) => kind === 'claimed')).jobId ?? ''
}
const foreignEvents = async (jobId: string) =>
  (await harness.store.listEvents(jobId)).filter(({ type }) => type === 'foreign_settle')

/** The old worker falls silent, its job is taken back and runs elsewhere; then it wakes up and ends it. */
async function wakeUpLate() {
  const [jobId = ''] = await harness.enqueue('stubborn', { ms: 1_200 })
  expect(await claim()).toBe(jobId)
  const worker = harness.work()
  await worker.until((told) => told.kind === 'started' && told.jobId === jobId)
  const answer = await settle(jobId)
  const { end } = await worker.until((told) => told.kind === 'ended' && told.jobId === jobId)
  return { jobId, answer, end }
}

describe('an old worker that ends a job which a new one has by then', () => {
  it('OPS-7 LEASE-5 reap: its write counts, and the new worker’s does not', async () => {
    const { jobId, answer, end } = await wakeUpLate()
    expect({ answer: answer.kind, end }).toEqual({ answer: 'settled', end: 'lost' })
    expect(await harness.store.getJob(jobId)).toMatchObject({ result: 'by the old worker' })
    expect(await foreignEvents(jobId)).toEqual([])
  })

  it('OPS-7 LEASE-5 enforce, record: the same, with an event that names it', async () => {
    await mode('enforce')
    const { jobId, answer, end } = await wakeUpLate()
    expect({ answer: answer.kind, end }).toEqual({ answer: 'settled', end: 'lost' })
    expect(await harness.store.getJob(jobId)).toMatchObject({ result: 'by the old worker', leaseId: null })
    expect((await foreignEvents(jobId)).map(({ data }) => data.details)).toMatchObject([
      { from: 'running', to: 'succeeded', application_name: 'old-worker' },
    ])
  })

  it('OPS-7 LEASE-5 enforce, refuse: its write fails, and the new worker’s counts', async () => {
    await mode('enforce', '--on-foreign-settle', 'refuse')
    const { jobId, answer, end } = await wakeUpLate()
    expect({ answer: answer.kind, code: answer.code, end }).toEqual({
      answer: 'refused',
      code: 'UN004',
      end: 'completed',
    })
    expect(await harness.store.getJob(jobId)).toMatchObject({ status: 'succeeded', result: { late: true } })
  })

  it('OPS-7 observe: its job is noted and left alone, and that it was alive shows when it ends it', async () => {
    const [jobId = ''] = await harness.enqueue('stubborn', { ms: 1_200 })
    await claim()
    await mode('observe')
    const row = async () =>
      (await harness.pool.query('select xmin::text, job::text from unstuck.jobs job where id = $1', [jobId]))
        .rows
    const before = await row()
    const worker = harness.work()
    for (;;) {
      if ((await harness.store.readObservations()).wouldRequeue > 0) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(await row()).toEqual(before)
    expect(await mode()).toMatch(/would requeue +1 .*still alive +0/)
    expect((await settle(jobId)).kind).toBe('settled')
    expect(await mode()).toMatch(/would requeue +1 .*still alive +1/)
    expect(worker.told.some(({ kind }) => kind === 'started')).toBe(false)
  })

  it('OPS-7 in reap and enforce both work side by side, each on its own jobs', async () => {
    for (const set of [['reap'], ['enforce', '--on-foreign-settle', 'refuse']]) {
      await mode(...set)
      const [ofOld = ''] = await harness.enqueue('quick')
      expect(await claim()).toBe(ofOld)
      const worker = harness.work()
      const [ofNew = ''] = await harness.enqueue('quick')
      await worker.until((told) => told.kind === 'ended' && told.jobId === ofNew)
      expect((await settle(ofOld)).kind).toBe('settled')
      await harness.untilJob(ofOld, hasStatus('succeeded'))
      await harness.endWorkers()
      old.told.length = 0
    }
  })
})

describe('unstuck mode', () => {
  it('OPS-7 shows the mode, and what a change changes', async () => {
    expect(await mode()).toMatch(/jobs +reap .*pass/)
    expect(await mode('enforce')).toMatch(/jobs: reap → enforce\n {2}.*unstuck_fence.*recorded/)
    expect(await mode()).toMatch(/jobs +enforce .*recorded/)
    expect(await mode('--on-foreign-settle', 'refuse')).toMatch(/is in enforce\n.*UN004/)
    expect(await mode('reap')).toMatch(/enforce → reap\n[\s\S]*trigger unstuck_fence was removed/)
    expect(JSON.parse(await mode('observe', '--json'))).toMatchObject({
      tables: [{ table: 'jobs', modeBefore: 'reap', mode: 'observe' }],
    })
    expect(JSON.parse(await mode('--json'))).toMatchObject({
      tables: [{ table: 'jobs', mode: 'observe', observations: { wouldRequeue: 0, cameBack: 0 } }],
    })
  })

  it.each([
    [['stop'], /Allowed choices are observe, reap, enforce/],
    [['enforce', '--on-foreign-settle', 'drop'], /Allowed choices are record, refuse/],
    [
      ['reap', '--on-foreign-settle', 'refuse'],
      /on_foreign_settle: got refuse, takes record or refuse, with the mode enforce only/,
    ],
    [['reap', '--table', 'none'], /table: got "none"/],
  ])('OPS-8 mode %j is refused, with what it takes', async (args, message) => {
    const { exitCode, stderr } = await runCommand(['mode', ...args], { DATABASE_URL: database.url })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})
