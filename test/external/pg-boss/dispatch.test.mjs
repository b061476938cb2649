// REAP-12 on the real pg-boss: jobs in the clip tables, workers that pg-boss wakes, and processes that die.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { PgBoss } from 'pg-boss'
import { startReaper } from '../../../dist/index.js'
import { RuntimeEventEmitter } from '../../../dist/observe/events.js'
import { startDispatcher } from '../../../dist/runtime/dispatch/dispatcher.js'
import { pgBossDispatch } from '../../../dist/runtime/dispatch/pg-boss.js'
import { openBench } from './bench.mjs'

let bench
/** Services of a test, stopped after it. */
let services = []

before(async () => {
  bench = await openBench()
})

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()))
  await bench.reset()
})

after(() => bench.close())

/** Resolves with the fields of the first event of this name that is enough. */
function nextEvent(events, name, isEnough = () => true) {
  return new Promise((resolve) => {
    const off = events.on(name, (fields) => {
      if (!isEnough(fields)) return
      off()
      resolve(fields)
    })
  })
}

function startServices(adapter = pgBossDispatch(bench.boss)) {
  const events = new RuntimeEventEmitter()
  const dispatcher = startDispatcher({ table: 'jobs', store: bench.store, adapter, events, intervalMs: 200 })
  const reaper = startReaper({
    tables: [{ name: 'jobs', store: bench.store }],
    intervalMs: 200,
    onSweep: () => dispatcher.wake(),
  })
  services.push(reaper, dispatcher)
  return events
}

/** As the application does it: a row, and a message that wakes a worker. */
async function enqueue(count) {
  const jobs = await bench.store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'clip' })))
  const ids = jobs.map(({ jobId }) => jobId)
  for (const jobId of ids) await bench.boss.send('clip', { jobId })
  return ids
}

/** A job that was claimed and given back: it waits, and is to be published. */
async function releaseOne(delayMs) {
  const [{ jobId }] = await bench.store.enqueueJobs([{ type: 'clip' }])
  return [jobId, await releaseAgain(jobId, delayMs)]
}

async function releaseAgain(jobId, delayMs) {
  const claimed = await bench.store.claimJob(jobId, { workerId: 'gives-back' })
  await bench.store.releaseJobs([claimed], { delayMs })
  const [taken] = await bench.store.takeDispatches()
  return taken
}

const statusOf = async (jobId) => (await bench.store.getJob(jobId)).status
const deliveredBy = ({ lines }) => lines.filter(({ delivered }) => delivered !== undefined)
const isFinished = (ids) => (lines) => ids.every((id) => lines.some(({ finished }) => finished === id))

describe('a worker that pg-boss wakes', { timeout: 120_000 }, () => {
  it('REAP-12 gets the jobs of one that was killed, after their backoff, and finishes them', async () => {
    const events = startServices()
    const doomed = await bench.startWorker('doomed', 'hold')
    const [lost] = await enqueue(1)
    await doomed.told((lines) => lines.some(({ delivered }) => delivered === lost))
    assert.equal(await statusOf(lost), 'running')
    const published = nextEvent(events, 'dispatch:done')
    await doomed.kill()
    assert.deepEqual(await published, { table: 'jobs', published: 1 })

    const rescuer = await bench.startWorker('rescuer', 'finish')
    const [other] = await enqueue(1)
    await rescuer.told(isFinished([lost, other]))
    assert.equal(await statusOf(lost), 'succeeded')
    // A job that is running, or not due yet, cannot be claimed: every message came at its time.
    assert.deepEqual(
      deliveredBy(rescuer).toSorted((a, b) => a.attempt - b.attempt),
      [
        { delivered: other, isClaimed: true, attempt: 1 },
        { delivered: lost, isClaimed: true, attempt: 2 },
      ],
    )
    assert.equal((await bench.listMessages()).length, 3)
    assert.equal(await bench.store.countDispatches(), 0)
  })

  it('REAP-12 loses nothing while pg-boss cannot be reached: it publishes when pg-boss is back', async () => {
    const events = startServices()
    const doomed = await bench.startWorker('doomed', 'hold')
    const [lost] = await enqueue(1)
    await doomed.told((lines) => lines.some(({ delivered }) => delivered === lost))
    bench.door.shut()
    const failed = nextEvent(events, 'dispatch:failed')
    await doomed.kill()
    assert.equal((await failed).waiting, 1)
    assert.equal(await statusOf(lost), 'waiting')
    const { rows } = await bench.pool.query('select job_id, last_error from unstuck.dispatches')
    assert.equal(rows[0].job_id, lost)
    assert.notEqual(rows[0].last_error, null)
    assert.equal((await bench.listMessages()).length, 1)

    const published = nextEvent(events, 'dispatch:done')
    bench.door.open()
    assert.deepEqual(await published, { table: 'jobs', published: 1 })
    const rescuer = await bench.startWorker('rescuer', 'finish')
    await rescuer.told(isFinished([lost]))
    assert.deepEqual(deliveredBy(rescuer), [{ delivered: lost, isClaimed: true, attempt: 2 }])
    assert.equal(await bench.store.countDispatches(), 0)
  })
})

describe('publishing to pg-boss', { timeout: 60_000 }, () => {
  it('REAP-12 the same dispatch twice is one pg-boss job, also after that one has ended', async () => {
    const adapter = pgBossDispatch(bench.boss)
    const [jobId, taken] = await releaseOne(0)
    await adapter.publish([taken])
    await adapter.publish([taken])
    const [message] = await bench.boss.fetch('clip')
    assert.deepEqual(message.data, { jobId })
    await bench.boss.complete('clip', message.id)
    await adapter.publish([taken])
    assert.equal((await bench.listMessages()).length, 1)
    // The next time it goes back to waiting is another dispatch.
    await adapter.publish([await releaseAgain(jobId, 0)])
    assert.equal((await bench.listMessages()).length, 2)
  })

  it('REAP-12 a job that is due later is delivered then and not before', async () => {
    const [, taken] = await releaseOne(90_500)
    await pgBossDispatch(bench.boss).publish([taken])
    assert.ok(taken.runInMs > 85_000 && taken.runInMs <= 90_500)
    const [{ start_after: startAfter, created_on: createdOn }] = await bench.listMessages()
    assert.ok(Math.abs(startAfter - createdOn - taken.runInMs) <= 1)
    const due = (await bench.store.getJob(taken.jobId)).runAt
    assert.ok(startAfter >= due, `${startAfter.toISOString()} is before ${due.toISOString()}`)
    assert.deepEqual(await bench.boss.fetch('clip'), [])
  })

  it('REAP-12 queue and data are what the team says', async () => {
    await bench.boss.createQueue('clip-night')
    const adapter = pgBossDispatch(bench.boss, {
      queueName: ({ type }) => `${type}-night`,
      data: ({ jobId, attempt }) => ({ id: jobId, attempt }),
    })
    const [jobId, taken] = await releaseOne(0)
    await adapter.publish([taken])
    const [message] = await bench.boss.fetch('clip-night')
    assert.deepEqual(message.data, { id: jobId, attempt: 0 })
  })

  it('REAP-12 what a policy of the queue keeps out is not taken for published', async () => {
    await bench.boss.createQueue('one-at-a-time', { policy: 'short' })
    const adapter = pgBossDispatch(bench.boss, { queueName: () => 'one-at-a-time' })
    const [, first] = await releaseOne(0)
    const [, second] = await releaseOne(0)
    await adapter.publish([first])
    await assert.rejects(adapter.publish([first, second]), /one-at-a-time/)
    await bench.boss.fetch('one-at-a-time')
    await adapter.publish([first, second])
    assert.equal((await bench.boss.fetch('one-at-a-time'))[0].id, second.dispatchId)
  })

  it('REAP-12 a pg-boss that is stopped refuses, and so nothing is forgotten', async () => {
    const stopped = new PgBoss({ connectionString: bench.url, supervise: false, schedule: false })
    await stopped.start()
    await stopped.stop({ graceful: false })
    const [, taken] = await releaseOne(0)
    await assert.rejects(pgBossDispatch(stopped).publish([taken]))
    assert.deepEqual(await bench.listMessages(), [])
  })

  it('REAP-12 a queue that does not exist is a failure and no loss', async () => {
    const events = startServices(pgBossDispatch(bench.boss, { queueName: () => 'nowhere' }))
    const [{ jobId }] = await bench.store.enqueueJobs([{ type: 'clip' }])
    const failed = nextEvent(events, 'dispatch:failed')
    const claimed = await bench.store.claimJob(jobId, { workerId: 'gives-back' })
    await bench.store.releaseJobs([claimed])
    const { error, waiting } = await failed
    assert.match(error.message, /nowhere/)
    assert.equal(waiting, 1)
  })
})
