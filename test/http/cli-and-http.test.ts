// One operator engine: CLI and HTTP API give the same answers on one database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandName, commandNames } from '../../src/commands/permissions.ts'
import { runInProcess } from '../cli/support/in-process.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from './http-bench.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

let bench: HttpBench
const compared = new Set<CommandName>()

beforeAll(async () => {
  bench = await openHttpBench()
})
afterAll(() => bench.close())

async function cli(...args: string[]) {
  const { exitCode, stdout, stderr } = await runInProcess([...args, '--json'], {
    DATABASE_URL: bench.database.url,
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- an assertion judges it
  const read = (text: string): any => (text === '' ? null : JSON.parse(text))
  return { exitCode, answer: read(stdout), error: read(stderr)?.error ?? null }
}

/** `leaseExpiresAt` → `lease_expires_at`. */
const wireName = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const isNested = (value: unknown) => typeof value === 'object' && value !== null

/** Fields in both answers, by their HTTP name. Without durations, which change between calls. */
function sharedFacts(cliValue: object, wire: object): [string, unknown, unknown][] {
  const byWireName = new Map(Object.entries(cliValue).map(([name, value]) => [wireName(name), value]))
  return Object.entries(wire)
    .filter(([name, value]) => byWireName.has(name) && !name.endsWith('_ms') && !isNested(value))
    .map(([name, value]) => [name, byWireName.get(name), value])
}

/** A fence is a string over HTTP: a JSON number may not hold it. */
const shown = (value: unknown) => (typeof value === 'number' ? String(value) : value)

function expectAlike(byCommand: object[], wire: object[]): void {
  expect(byCommand.length).toBe(wire.length)
  expect(byCommand.length).toBeGreaterThan(0)
  for (const [index, item] of byCommand.entries()) {
    const facts = sharedFacts(item, wire[index] ?? {})
    expect(facts.length).toBeGreaterThan(2)
    for (const [name, byCli, byHttp] of facts) expect([name, shown(byCli)]).toEqual([name, shown(byHttp)])
  }
}

describe('lists', () => {
  beforeAll(async () => {
    const { store } = bench
    await enqueue(store, { type: 'asr' })
    await kill(store, { type: 'convert' })
    await store.mapDependency('convert', 'converter')
    await store.pauseQueue('asr', { actor: 'ana', reason: 'deploy' })
    await store.recordTrends(
      [{ queue: 'q', type: 't', enqueued: 3, completed: 2, failed: 1, rescued: 1, waits: [], runs: [0, 3] }],
      0,
    )
    await store.takeTokens([{ key: 'gateway', ratePerS: 5, burst: 5 }])
    await store.writeSchedule({
      name: 'nightly',
      cron: '0 3 * * *',
      timezone: 'UTC',
      job: { type: 'n' },
      nextRunAt: new Date(Date.now() + 3_600_000),
    })
    await store.addWebhook({ url: 'https://example.com/', secret: SECRET, events: ['cancelled'] })
    await store.cancelJobs([await enqueue(store, { type: 'sent' })], { actor: 'ana' })
    await bench.token({ role: 'viewer' })
  })

  it.each<[CommandName, string[], string, string]>([
    ['listJobs', ['jobs', 'list'], 'GET /v1/jobs', 'jobs'],
    ['listDeadLetters', ['dead', 'list'], 'GET /v1/dead-letters', 'groups'],
    ['listQueues', ['queues', 'list'], 'GET /v1/queues', 'queues'],
    ['listTrends', ['queues', 'trends'], 'GET /v1/trends', 'trends'],
    ['listBreakers', ['breaker', 'status'], 'GET /v1/breakers', 'breakers'],
    ['listRateLimits', ['limits'], 'GET /v1/rate-limits', 'limits'],
    ['listSchedules', ['schedules', 'list'], 'GET /v1/schedules', 'schedules'],
    ['listWebhooks', ['webhooks', 'list'], 'GET /v1/webhooks', 'webhooks'],
    ['listDeliveries', ['webhooks', 'deliveries'], 'GET /v1/webhooks/deliveries', 'deliveries'],
    ['listTokens', ['tokens', 'list'], 'GET /v1/tokens', 'tokens'],
  ])('OPS-9 %s: unstuck %s and %s return the same', async (command, args, line, key) => {
    compared.add(command)
    const { answer } = await cli(...args)
    const { body } = await bench.call(line)
    const listed: unknown = command === 'listJobs' ? answer.tables[0].jobs : answer[key]
    const wire: unknown = body[key] ?? Object.values(body).find(Array.isArray)
    if (!Array.isArray(listed) || !Array.isArray(wire)) throw new Error(`${key} is not a list in both`)
    expectAlike(listed, wire)
  })

  it('OPS-9 the workers are the same, and so is the drain of one', async () => {
    const report = { types: ['asr'], concurrency: 2, running: 0, reportMs: 15_000 }
    await bench.store.reportWorker({ ...report, workerId: 'alpha:1', phase: 'running' })
    const { answer } = await cli('workers', 'list')
    expectAlike(answer.workers, (await bench.call('GET /v1/workers')).body.workers)
    expect((await cli('workers', 'drain', 'alpha:1', '--reason', 'x')).answer).toMatchObject({
      outcome: 'asked',
    })
    const again = await bench.call('POST /v1/workers/alpha:1/drain', { body: { reason: 'x' } })
    expect(again.body).toMatchObject({ outcome: 'already-asked' })
    compared.add('listWorkers').add('drainWorker')
  })
})

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type)
const outcomeOf = (code: string) => code.toLowerCase().replaceAll('_', '-')
const idsOf = (jobs: { jobId: string }[]) => jobs.map(({ jobId }) => jobId)

describe('one job', () => {
  it('OPS-9 why gives one explanation, also of a running job without a lease', async () => {
    const { store, database } = bench
    const waiting = await enqueue(store, { type: 'later', runAt: new Date(Date.now() + 3_600_000) })
    const dead = await kill(store, { type: 'convert' })
    const running = await enqueue(store, { type: 'held' })
    await claim(store, 'held')
    const unleased = await enqueue(store, { type: 'old' })
    await claim(store, 'old')
    await database.pool.query(
      `update unstuck.jobs set lease_id = null, lease_expires_at = null where id = $1`,
      [unleased],
    )
    for (const id of [waiting, dead, running, unleased]) {
      const { answer } = await cli('why', id)
      const { body } = await bench.call(`GET /v1/jobs/${id}/why`)
      const codes = (reasons: { code: string }[]) => reasons.map(({ code }) => code)
      expect([answer.verdict, codes(answer.reasons)]).toEqual([body.verdict, codes(body.reasons)])
      // Without ages, which change between calls.
      const timeless = (text: string) => text.replaceAll(/\d+(\.\d+)? (ms|s|min|h)\b/g, '…')
      expect(timeless(answer.sentence)).toBe(timeless(body.sentence))
    }
    compared.add('explainJob')
  })

  it('OPS-9 get returns the same as GET and its events', async () => {
    const id = await kill(bench.store, { type: 'convert' })
    const { answer } = await cli('jobs', 'get', id)
    const { body } = await bench.call(`GET /v1/jobs/${id}`)
    const { error: _cli, ...job } = answer.job
    const { error: _wire, ...wire } = body.job
    expectAlike([job], [wire])
    const { events } = (await bench.call(`GET /v1/jobs/${id}/events`)).body
    expect(typesOf(answer.events)).toEqual(typesOf(events))
    compared.add('readJob').add('readEvents')
  })

  it('OPS-9 a state that does not allow a change has one name', async () => {
    const { store } = bench
    const waiting = await enqueue(store, { type: 'asr' })
    const dead = await kill(store, { type: 'convert' })
    const running = await enqueue(store, { type: 'held' })
    await claim(store, 'held')
    for (const [verb, line, id] of [
      ['retry', `POST /v1/jobs/${waiting}/retry`, waiting],
      ['cancel', `POST /v1/jobs/${dead}/cancel`, dead],
      ['discard', `DELETE /v1/jobs/${running}`, running],
    ] as const) {
      const more = verb === 'discard' ? ['--yes'] : []
      const { exitCode, answer } = await cli('jobs', verb, id, '--reason', 'x', ...more)
      const reply = await bench.call(line, line.startsWith('POST') ? { body: { reason: 'x' } } : {})
      const [why] = reply.body.why
      expect([verb, exitCode, reply.status]).toEqual([verb, 4, 409])
      expect(answer.jobs[0].outcome).toBe(outcomeOf(why.code))
      expect(answer.jobs[0].detail).toContain(why.message)
    }
    compared.add('retryJob').add('cancelJob').add('discardJob')
  })
})

describe('missing resources', () => {
  it.each<[CommandName, string[], string, object | undefined]>([
    ['explainJob', ['why', NOBODY], `GET /v1/jobs/${NOBODY}/why`, undefined],
    ['retryJob', ['jobs', 'retry', NOBODY, '--reason', 'x'], `POST /v1/jobs/${NOBODY}/retry`, {}],
    ['holdBreaker', ['breaker', 'hold', 'nope', '--reason', 'x'], 'POST /v1/breakers/nope/hold', {}],
    ['resumeBreaker', ['breaker', 'resume', 'nope', '--reason', 'x'], 'POST /v1/breakers/nope/resume', {}],
    ['drainWorker', ['workers', 'drain', 'nope', '--reason', 'x'], 'POST /v1/workers/nope/drain', {}],
    ['removeWebhook', ['webhooks', 'remove', NOBODY], `DELETE /v1/webhooks/${NOBODY}`, undefined],
    ['switchWebhook', ['webhooks', 'enable', NOBODY], `PATCH /v1/webhooks/${NOBODY}`, { is_active: true }],
    ['redeliver', ['webhooks', 'redeliver', NOBODY], `POST /v1/webhooks/deliveries/${NOBODY}/redeliver`, {}],
    ['addWebhook', ['webhooks', 'add', 'example.com'], 'POST /v1/webhooks', { url: 'example.com' }],
    ['revokeToken', ['tokens', 'revoke', 'nope'], 'DELETE /v1/tokens/nope', undefined],
    ['createToken', ['tokens', 'create', 'nope'], 'POST /v1/tokens', { name: 'nope' }],
    ['markCause', ['dead', 'mark', 'f00d', '--as', 'new'], 'PATCH /v1/dead-letters/f00d', { state: 'new' }],
    ['redrive', ['dead', 'redrive', 'f00d', '--reason', 'x'], 'POST /v1/dead-letters/f00d/redrive', {}],
    [
      'planRedrive',
      ['dead', 'redrive', 'f00d', '--reason', 'x', '--dry-run'],
      'POST /v1/dead-letters/f00d/redrive',
      { dry_run: true },
    ],
  ])('OPS-8 %s: unstuck %s and %s refuse with one code', async (command, args, line, body) => {
    compared.add(command)
    const { exitCode, error } = await cli(...args)
    const reply = await bench.call(line, body === undefined ? {} : { body })
    expect(reply.status).toBeGreaterThanOrEqual(400)
    expect(exitCode).toBeGreaterThan(0)
    expect(error.code).toBe(reply.body.code)
  })

  it.each<[string[], string, object | undefined]>([
    [['webhooks', 'remove', 'nope'], 'DELETE /v1/webhooks/nope', undefined],
    [['webhooks', 'enable', 'nope'], 'PATCH /v1/webhooks/nope', { is_active: true }],
    [['webhooks', 'redeliver', 'nope'], 'POST /v1/webhooks/deliveries/nope/redeliver', {}],
    [
      ['webhooks', 'deliveries', '--webhook', 'nope'],
      'GET /v1/webhooks/deliveries?webhook_id=nope',
      undefined,
    ],
  ])('OPS-8 unstuck %s and %s name an id that is no UUID', async (args, line, body) => {
    const { exitCode, error } = await cli(...args)
    const reply = await bench.call(line, body === undefined ? {} : { body })
    expect([exitCode, reply.status]).toEqual([2, 400])
    expect([error.code, reply.body.code]).toEqual(['INVALID_ARGUMENT', 'INVALID_ARGUMENT'])
    for (const message of [error.message, reply.body.detail])
      expect(message).toMatch(/^(webhook_)?id: must be a UUID$/)
  })
})

describe('queues, breakers and webhooks', () => {
  it('BREAK-2 a change by one is visible to the other', async () => {
    expect((await cli('queues', 'pause', 'embed', '--reason', 'x')).answer).toMatchObject({ changed: true })
    const again = await bench.call('POST /v1/queues/embed/pause', { body: { reason: 'x' } })
    expect(again.body).toMatchObject({ is_changed: false })
    await bench.call('POST /v1/queues/embed/resume', { body: {} })
    expect((await cli('queues', 'resume', 'embed')).answer).toMatchObject({ changed: false })
    compared.add('pauseQueue').add('resumeQueue')
  })

  it('RATE-7 a limit by one is visible to the other', async () => {
    const limit = ['queues', 'limit', 'embed', '--concurrency', '4', '--group-order', 'fifo']
    expect((await cli(...limit)).answer).toMatchObject({ changed: true })
    const body = { concurrency: 4, group_order: 'fifo' }
    const again = await bench.call('POST /v1/queues/embed/limit', { body })
    expect(again.body).toMatchObject({ is_changed: false })
    const { body: list } = await bench.call('GET /v1/queues')
    expect(list.queues).toContainEqual(
      expect.objectContaining({ queue: 'embed', concurrency: 4, group_concurrency: 1, group_order: 'fifo' }),
    )
    expect((await bench.call('POST /v1/queues/embed/limit', { body: {} })).body).toMatchObject({
      is_changed: true,
    })
    expect((await cli('queues', 'limit', 'embed')).answer).toMatchObject({ changed: false })
    compared.add('limitQueue')
  })
})

describe('health and sweeps', () => {
  /** `status` exits with 1 if /v1/health is not healthy, else with 0. */
  async function expectHealth(isHealthy: boolean): Promise<void> {
    const { exitCode, answer } = await cli('status')
    const { body } = await bench.call('GET /v1/health')
    expect(body).toMatchObject({ is_healthy: isHealthy })
    expect(answer.tables[0].health.isHealthy).toBe(isHealthy)
    expect(exitCode).toBe(isHealthy ? 0 : 1)
  }

  it('SEE-3 REAP-13 status and /v1/health judge alike: never swept, swept, late, overdue', async () => {
    const { store, database } = bench
    await database.pool.query('delete from unstuck.jobs')
    await expectHealth(true)
    await enqueue(store, { type: 'stuck' })
    await claim(store, 'stuck')
    await expectHealth(false)
    await store.sweepJobs({ reaper: { reaperId: 'reaper-1' } })
    await expectHealth(true)
    const { sweepIntervalMs } = await store.readPolicy()
    await bench.elapse(3 * sweepIntervalMs - 2_000)
    await expectHealth(true)
    await bench.elapse(4_000)
    await expectHealth(false)
    compared.add('readHealth').add('readSlo')
  })

  it('REAP-13 a dry run and a sweep take the same jobs', async () => {
    await bench.elapse(3_600_000)
    const { answer } = await cli('reap', '--dry-run')
    const dry = await bench.call('POST /v1/reaper/run', { body: { dry_run: true } })
    const ids = idsOf(answer.tables[0].wouldReap)
    expect(ids.length).toBeGreaterThan(0)
    expect(ids).toEqual(dry.body.requeuedIds)
    expect((await cli('reap', '--once')).answer.tables[0].requeuedIds).toEqual(ids)
    expect((await bench.call('POST /v1/reaper/run', { body: {} })).body.requeuedIds).toEqual([])
    compared.add('previewSweep').add('sweep')
  })
})

/** Commands without a CLI verb, or with one that does more than answer. */
const otherwise: Record<string, CommandName[]> = {
  'for programs only': [
    'enqueueJob',
    'claimJobs',
    'heartbeatJobs',
    'reportProgress',
    'completeJob',
    'failJob',
    'releaseJob',
  ],
  'tested in cli/jobs and operations': [
    'planOperation',
    'beginOperation',
    'abortOperation',
    'listOperations',
  ],
  'shown by the dashboard only': [
    'listLeases',
    'listSweeps',
    'listReclaims',
    'listStaleJobs',
    'validateStale',
  ],
  'one function for both': ['readMetrics', 'readConfig', 'listProfiles', 'listAuditEntries', 'runDoctor'],
}

it('OPS-9 every command is compared, or excluded with a reason', () => {
  expect([...compared, ...Object.values(otherwise).flat()].toSorted()).toEqual([...commandNames].toSorted())
})
