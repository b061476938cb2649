// A worker that would look for jobs by itself after ten minutes: what it starts, the end of another job made it start.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import type { QueueLimits } from '../../../src/store/ports/dependency-store.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  apps = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.queue_limits')
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
})

async function startWorker(options: UnstuckOptions, onEnded: () => void): Promise<void> {
  const app = unstuck({ databaseUrl: database.url, ...options })
  apps.push(app)
  app.handle('mail', async () => {})
  app.on('job:ended', onEnded)
  await app.start()
}

/** Starts workers beside 60 jobs of 3 groups, and waits for the end of all jobs. */
async function workOff(options: UnstuckOptions, workers = 1): Promise<number> {
  const store = unstuck({ databaseUrl: database.url })
  apps.push(store)
  await store.enqueueMany(Array.from({ length: 60 }, (_, n) => ({ type: 'mail', group: `tenant ${n % 3}` })))
  let left = 60
  await new Promise<void>((resolve, reject) => {
    const onEnded = () => {
      left--
      if (left === 0) resolve()
    }
    const started = Array.from({ length: workers }, () => startWorker(options, onEnded))
    Promise.all(started).catch(reject)
  })
  return (await store.store.readHealth()).waiting
}

const seldom: [number, number] = [600_000, 600_000]
const limits: [name: string, limits: QueueLimits][] = [
  ['a group', { groupConcurrency: 2 }],
  ['a group in order', { groupOrder: 'fifo' }],
  ['a queue', { concurrency: 2 }],
]

it.each(limits)('RATE-7 an idle worker fills a place of %s as soon as it is free', async (_, limit) => {
  expect(await workOff({ queues: { mail: limit }, pollMs: seldom })).toBe(0)
})

it.each(limits)('RATE-7 a worker whose slots are all taken fills a place of %s', async (_, limit) => {
  expect(await workOff({ queues: { mail: limit }, pollMs: seldom, concurrency: 2 })).toBe(0)
})

// A place that the other one frees is found by a look.
it.each(limits)('RATE-7 two workers share the places of %s until no job is left', async (_, limit) => {
  expect(await workOff({ queues: { mail: limit } }, 2)).toBe(0)
})
