// A handler that throws, seen from the application: events, log lines and stderr.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type RuntimeEvents, type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let app: Unstuck
let printed: string[]

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  printed = []
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => printed.push(String(line)) > 0)
})
afterEach(async () => {
  await app.stop()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

const declined = new Error('card declined')

/** Runs one job whose handler throws, to its end. */
async function failOnce(options: UnstuckOptions = {}): Promise<RuntimeEvents['job:ended']> {
  app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], ...options })
  app.handle('charge', () => {
    throw declined
  })
  const ended = new Promise<RuntimeEvents['job:ended']>((resolve) => app.on('job:ended', resolve))
  await app.start()
  await app.enqueue({ type: 'charge', payload: { card: 'hush' }, maxAttempts: 1 })
  return ended
}

it('FAIL-7 events carry the thrown value itself, and stderr has one line', async () => {
  const ended = await failOnce()
  expect(ended).toMatchObject({ end: 'dead', code: 'UNKNOWN', failure: { message: 'card declined' } })
  expect(ended.error).toBe(declined)
  expect(printed).toEqual([
    `unstuck: job dead: card declined (charge ${ended.job.jobId}, UNKNOWN, attempt 1)\n`,
  ])
})

it('FAIL-7 job:failed comes before job:ended, with the same value', async () => {
  const heard: [string, unknown][] = []
  app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], logger: false })
  app.handle('charge', async () => Promise.reject(declined))
  app.on('job:failed', ({ error, end }) => void heard.push([`failed ${end}`, error]))
  const ended = new Promise<void>((resolve) =>
    app.on('job:ended', ({ error, end }) => {
      heard.push([`ended ${end}`, error])
      resolve()
    }),
  )
  await app.start()
  await app.enqueue({ type: 'charge', maxAttempts: 1 })
  await ended
  expect(heard).toEqual([
    ['failed dead', declined],
    ['ended dead', declined],
  ])
})

it('FAIL-7 a logger gets the message as err, and nothing goes to stderr', async () => {
  const lines: { event?: string; err?: object }[] = []
  const write = (fields: object) => void lines.push(fields)
  await failOnce({ logger: { info: write, warn: write, error: write } })
  await app.stop()
  expect(lines.find(({ event }) => event === 'job:ended')?.err).toEqual({
    type: 'Error',
    message: 'card declined',
  })
  expect(JSON.stringify(lines)).not.toContain('hush')
  expect(printed).toEqual([])
})

it.each<[string, UnstuckOptions, string]>([
  ['logger: false', { logger: false }, 'development'],
  ['NODE_ENV=production', {}, 'production'],
])('FAIL-7 %s prints nothing', async (_, options, environment) => {
  vi.stubEnv('NODE_ENV', environment)
  expect(await failOnce(options)).toMatchObject({ end: 'dead' })
  await app.stop()
  expect(printed).toEqual([])
})

it('FAIL-7 a logger that is none is refused', async () => {
  expect(() => unstuck({ databaseUrl: database.url, logger: console.log as never })).toThrow(
    'logger: got a function (withheld), takes an object with info, warn and error',
  )
  await failOnce({ logger: false })
})
