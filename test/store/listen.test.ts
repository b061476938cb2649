import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { leaseNumber } from '../../src/runtime/heartbeat/lease-number.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore, migrateUp } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { type Listening, startListening } from '../support/listening.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const table = nativeProfile('unstuck').tables[0]
let database: TestDatabase
let store: JobStore
let listeners: Listening[] = []

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
})
afterAll(() => database.drop())

afterEach(async () => {
  await Promise.all(listeners.map((listener) => listener.stop()))
  listeners = []
})

function start(databaseUrl = database.url): Listening {
  const listening = startListening({ databaseUrl, schema: 'unstuck', table })
  listeners.push(listening)
  return listening
}

async function backends(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'unstuck listen' and datname = current_database()`,
  )
  return rows.map(({ pid }) => pid)
}

it('WORK-1 an enqueue reaches a listener, and the start of one is no hint for another', async () => {
  const first = start()
  await first.until('started')
  const second = start()
  await second.until('started')
  await store.enqueueJobs([{ type: 'a' }])
  await Promise.all([first.until('hint', 2), second.until('hint', 2)])
  expect(first.told).toEqual(['started unstuck.native', 'hint', 'hint'])
  expect(second.told).toEqual(['started unstuck.native', 'hint', 'hint'])
})

it('WORK-1 C16 a listener gives a hint when it starts, for jobs enqueued before it could hear of them', async () => {
  await store.enqueueJobs([{ type: 'a' }])
  const listening = start()
  await listening.until('started')
  expect(listening.told).toEqual(['started unstuck.native', 'hint'])
})

it('WORK-1 one connection is kept for listening, and none after the stop', async () => {
  const listening = start()
  await listening.until('started')
  expect(await backends()).toHaveLength(1)
  await listening.stop()
  await expect.poll(backends).toEqual([])
})

it('WORK-1 a listener whose connection is ended says so, comes back, and gives a hint for what it missed', async () => {
  const listening = start()
  await listening.until('started')
  for (const round of [1, 2]) {
    await database.pool.query('select pg_terminate_backend($1)', (await backends()).slice(0, 1))
    await listening.until('hint', 1 + round)
  }
  expect(listening.told.map((text) => text.split(' ')[0])).toEqual([
    'started',
    'hint',
    'failed',
    'started',
    'hint',
    'failed',
    'started',
    'hint',
  ])
  expect(listening.told[2]).toMatch(/^failed terminating connection.*; polling continues$/)
  await store.enqueueJobs([{ type: 'a' }])
  await listening.until('hint', 4)
})

it('WORK-1 a listener that cannot connect says so once, goes on trying, and can be stopped meanwhile', async () => {
  const server = createServer((socket) => {
    socket.destroy()
    server.emit('tried')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const listening = start(`postgres://nobody@127.0.0.1:${port}/nowhere`)
  for (let tries = 1; tries <= 3; tries++) await once(server, 'tried')
  await listening.stop()
  server.close()
  expect(listening.told).toEqual(['failed Connection terminated unexpectedly; polling continues'])
})

it('WORK-1 a listener that is stopped leaves no socket behind where the server never answers', async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connected = once(server, 'connection')
  const listening = start(`postgres://nobody@127.0.0.1:${port}/nowhere`)
  const [socket] = (await connected) as [Socket]
  socket.on('error', () => {}).resume()
  await listening.stop()
  // A socket that is only half closed would still take it.
  await expect
    .poll(() => {
      socket.write('anybody?')
      return socket.destroyed
    })
    .toBe(true)
  server.close()
})

it('WORK-1 a listener that was started before the install works after it', async () => {
  const later = await createTestDatabase()
  const listening = start(later.url)
  try {
    await listening.until('failed')
    await migrateUp({ databaseUrl: later.url, schema: 'unstuck', profile: nativeProfile('unstuck') })
    await listening.until('started')
    expect(listening.told[0]).toContain('schema "unstuck" does not exist')
  } finally {
    await listening.stop()
    await later.drop()
  }
})

it('WORK-6 C16 a cancel names the holder by the number of its lease, and never the job', async () => {
  const payloads: string[] = []
  const listener = new pg.Client(database.url)
  await listener.connect()
  listener.on('notification', ({ payload = '' }) => payloads.push(payload))
  const listening = start()
  await listening.until('started')
  await store.enqueueJobs([{ type: 'held' }])
  const [held] = await store.claimJobs({ workerId: 'worker-1', queues: ['held'], limit: 1 })
  await listener.query('listen "unstuck.native"')
  const [waiting] = await store.enqueueJobs([{ type: 'waits' }])
  await store.cancelJobs([String(held?.jobId), String(waiting?.jobId)])
  await listening.until('cancels')
  expect(listening.told.at(-1)).toBe(`cancels ${leaseNumber(String(held?.leaseId))}`)
  await expect.poll(() => payloads.some((payload) => payload.includes('cancels'))).toBe(true)
  for (const payload of payloads) {
    expect(payload).not.toContain(String(held?.jobId))
    expect(payload).not.toContain(String(held?.leaseId))
  }
  await listener.end()
})
