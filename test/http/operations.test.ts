// Bulk changes over the real API; the last tests kill one of several server processes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  DeadLetterList,
  Operation,
  OperationJobList,
  OperationList,
} from '../../src/http/contract/index.ts'
import { COUNT_LIMIT } from '../../src/store/ports/call-options.ts'
import { startServe } from '../cli/support/serve-command.ts'
import { enqueue, type HttpBench, kill, openHttpBench } from './http-bench.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
})

afterAll(() => bench.close())

const PATIENCE = { timeout: 30_000 }

async function ended(id: string, as = 'admin'): Promise<Operation> {
  const read = async (): Promise<Operation> =>
    (await bench.call(`GET /v1/operations/${id}`, { as })).body.operation
  await expect.poll(async () => (await read()).state, PATIENCE).not.toBe('running')
  return read()
}

const killMany = (type: string, count: number, owner?: string, { store } = bench) =>
  Promise.all(
    Array.from({ length: count }, () => kill(store, { type, ...(owner === undefined ? {} : { owner }) })),
  )

const begin = (body: object, as = 'admin') => bench.call('POST /v1/operations', { as, body })

describe('a source that is gone', () => {
  it('OPS-1 is checked by retry and redrive of many as by a retry of one', async () => {
    const gone = new Set<string>()
    const other = await openHttpBench({ sourceExists: async ({ id }) => !gone.has(id) })
    try {
      const [kept = '', lost = ''] = await killMany('convert', 2, undefined, other)
      gone.add(lost)
      const one = await other.call(`POST /v1/jobs/${lost}/retry`, { body: {} })
      expect(one).toMatchObject({ status: 409, body: { code: 'SOURCE_GONE' } })
      const begun = await other.call('POST /v1/operations', { body: { action: 'retry', q: 'type:convert' } })
      const path = `GET /v1/operations/${begun.body.operation.id}`
      await expect.poll(async () => (await other.call(path)).body.operation.state, PATIENCE).toBe('done')
      const { jobs } = (await other.call(`${path}/jobs`)).body as OperationJobList
      expect(new Map(jobs.map(({ job_id, outcome }) => [job_id, outcome]))).toEqual(
        new Map([
          [kept, 'retried'],
          [lost, 'source-gone'],
        ]),
      )
      expect((await other.store.getJob(lost))?.status).toBe('dead')
    } finally {
      await other.close()
    }
  })
})

const databaseNow = async (): Promise<string> => (await bench.call('GET /v1/jobs')).body.db_now

async function nowAfter(moment: string): Promise<string> {
  await expect.poll(databaseNow).not.toBe(moment)
  return databaseNow()
}

describe('an operation', () => {
  it('OPS-9 is planned without a change, then changes all that fit, with an outcome for each', async () => {
    const ids = await killMany('plain', 3)
    await enqueue(bench.store, { type: 'plain' })
    const body = { action: 'retry', q: 'type:plain', reason: 'fixed', expect: 3 }
    const plan = await begin({ ...body, dry_run: true })
    expect(plan).toMatchObject({ status: 200, body: { operation: { id: '', state: 'planned', total: 3 } } })
    const begun = await begin(body)
    expect(begun).toMatchObject({ status: 202, body: { operation: { action: 'retry', q: 'type:plain' } } })
    const { id } = begun.body.operation
    expect(await ended(id)).toMatchObject({
      state: 'done',
      changed: 3,
      refused: 0,
      table: 'jobs',
      cause_id: null,
    })
    for (const jobId of ids)
      expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'waiting', generation: 2 })

    const first: OperationJobList = (await bench.call(`GET /v1/operations/${id}/jobs?limit=2`)).body
    const rest = await bench.call(`GET /v1/operations/${id}/jobs?cursor=${first.next_cursor}`)
    const jobs = [...first.jobs, ...rest.body.jobs]
    expect(jobs.map(({ job_id, outcome }) => [job_id, outcome])).toEqual(
      ids.toSorted().map((jobId) => [jobId, 'retried']),
    )
    expect(rest.body.next_cursor).toBeNull()
  })

  it.each([
    ['cancel', 'cancelled'],
    ['run-now', 'due'],
    ['discard', 'discarded'],
  ])('OPS-9 %s is one too', async (action, outcome) => {
    const runAt = new Date(Date.now() + 3_600_000)
    await bench.store.enqueueJobs([{ type: action, runAt }])
    const begun = await begin({ action, q: `type:${action}` })
    expect(await ended(begun.body.operation.id)).toMatchObject({ state: 'done', changed: 1 })
    const { body } = await bench.call(`GET /v1/operations/${begun.body.operation.id}/jobs`)
    expect(body.jobs).toMatchObject([{ outcome, position: 1 }])
  })

  it('OPS-9 where another number than expected fits, nothing begins: 412', async () => {
    const [jobId = ''] = await killMany('counted', 1)
    const refused = await begin({ action: 'retry', q: 'type:counted', expect: 2 })
    expect(refused).toMatchObject({ status: 412, body: { code: 'PRECONDITION_FAILED' } })
    expect(refused.body.detail).toContain('1 jobs match, expected 2')
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'dead' })
  })

  it('OPS-9 a job that dies after the moment it is about is not touched', async () => {
    const [early = ''] = await killMany('frozen', 1)
    // In whole milliseconds: both deaths must be in others.
    const asOf = await nowAfter(await databaseNow())
    await nowAfter(asOf)
    const [late = ''] = await killMany('frozen', 1)
    const begun = await begin({ action: 'redrive', q: 'type:frozen', as_of: asOf, rate_per_s: 1000 })
    expect(await ended(begun.body.operation.id)).toMatchObject({ total: 1, changed: 1, as_of: asOf })
    expect(await bench.store.getJob(early)).toMatchObject({ status: 'waiting' })
    expect(await bench.store.getJob(late)).toMatchObject({ status: 'dead', generation: 1 })
  })

  it('OPS-9 is stopped at once, and what it changed stays so', async () => {
    await killMany('slow', 3)
    const begun = await begin({ action: 'retry', q: 'type:slow', rate_per_s: 0.01 })
    const { id } = begun.body.operation
    const changed = async () => (await bench.call(`GET /v1/operations/${id}`)).body.operation.changed
    await expect.poll(changed, PATIENCE).toBe(1)
    const stopped = await bench.call(`POST /v1/operations/${id}/abort`)
    expect(stopped.body.operation).toMatchObject({ state: 'stopped', stopped: 'interrupted', changed: 1 })
    expect((await bench.call('GET /v1/jobs?q=type:slow%20status:dead')).body.jobs).toHaveLength(2)
    expect((await bench.call(`POST /v1/operations/${id}/abort`)).body.operation).toMatchObject({ changed: 1 })
  })

  it('OPS-9 the newest are listed first, page by page', async () => {
    const first: OperationList = (await bench.call('GET /v1/operations?limit=2')).body
    expect(first.operations).toHaveLength(2)
    const second = (await bench.call(`GET /v1/operations?limit=1000&cursor=${first.next_cursor}`)).body
    const ids = [...first.operations, ...second.operations].map(({ id }: Operation) => id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    expect(new Set(ids).size).toBe(ids.length)
    expect(second.next_cursor).toBeNull()
  })

  it('OPS-8 bad requests are refused, and a filter points at the token', async () => {
    const wrong = await begin({ action: 'retry', q: 'type:a colour:red' })
    expect(wrong).toMatchObject({ status: 400, body: { token: { text: 'colour:red', position: 7 } } })
    const bodies = [
      { action: 'retry', q: '' },
      { action: 'retry', q: '  ' },
      { action: 'explode', q: 'type:a' },
      { action: 'retry', q: 'type:a', as_of: 'yesterday' },
      { action: 'retry', q: 'type:a', limit: 100_001 },
      { action: 'retry', q: 'type:a', colour: 'red' },
      { q: 'type:a' },
    ]
    for (const body of bodies) expect(await begin(body)).toMatchObject({ status: 400 })
    expect((await bench.call('GET /v1/operations?cursor=x')).status).toBe(400)
    const { id } = (await bench.call('GET /v1/operations?limit=1')).body.operations[0]
    expect((await bench.call(`GET /v1/operations/${id}/jobs?cursor=x`)).status).toBe(400)
    for (const line of [
      'GET /v1/operations/none',
      'GET /v1/operations/none/jobs',
      'POST /v1/operations/none/abort',
    ])
      expect((await bench.call(line)).status).toBe(404)
    expect((await begin({ action: 'retry', q: 'type:a', table: 'none' })).status).toBe(404)
  })

  it('OPS-9 more than 100,000 are refused, unless a limit takes a part of them', async () => {
    await bench.database.pool.query(
      `insert into unstuck.jobs (id, type, queue, status, payload, priority, created_at)
       select unstuck.uuid_v7(now() - n * interval '1 ms'), 'mass', 'mass', 'waiting', '{}', 0, now() - interval '1 hour'
         from generate_series(1, 100001) n`,
    )
    const refused = await begin({ action: 'cancel', q: 'type:mass' })
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } })
    expect(refused.body.detail).toContain('100,000')
    const plan = await begin({ action: 'cancel', q: 'type:mass', limit: 90_000, dry_run: true })
    expect(plan.body.operation).toMatchObject({ total: 90_000, at_least: [] })
    const all = await begin({ action: 'cancel', q: 'type:mass', dry_run: true })
    expect(all.body.operation.at_least).toEqual(['total'])
    // Rows of other types are read too.
    expect(all.body.operation.total).toBeGreaterThan(COUNT_LIMIT - 1_000)
    expect(all.body.operation.total).toBeLessThanOrEqual(COUNT_LIMIT)
    const begun = await begin({ action: 'cancel', q: 'type:mass', limit: 1200 })
    expect(await ended(begun.body.operation.id)).toMatchObject({ state: 'done', changed: 1200 })
    await bench.database.pool.query("delete from unstuck.jobs where type = 'mass'")
  }, 120_000)
})

describe('who may', () => {
  it('OPS-1 it needs the scope of the action beside that of operations', async () => {
    await killMany('scoped', 1)
    const retrier = await bench.token({ scopes: ['ops:bulk', 'jobs:retry'] })
    const body = { q: 'type:scoped', dry_run: true }
    expect((await begin({ ...body, action: 'retry' }, retrier)).status).toBe(200)
    for (const action of ['cancel', 'discard']) {
      const refused = await begin({ ...body, action }, retrier)
      expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      expect(refused.body.detail).toContain(`jobs:${action}`)
    }
    const bulk = await bench.token({ scopes: ['ops:bulk'] })
    expect((await begin({ ...body, action: 'redrive' }, bulk)).status).toBe(403)
  })

  it('C21 an owner changes its own jobs only, and sees its own operations only', async () => {
    const ana = await bench.token({ role: 'admin', owner: 'ana' })
    const bob = await bench.token({ role: 'admin', owner: 'bob' })
    const [hers = ''] = await killMany('owned', 1, 'ana')
    const [his = ''] = await killMany('owned', 1, 'bob')
    for (const q of ['type:owned owner:bob', 'owner:bob'])
      expect((await begin({ action: 'retry', q, dry_run: true }, ana)).body.operation.total).toBe(0)
    const begun = await begin({ action: 'retry', q: 'type:owned' }, ana)
    const { id } = begun.body.operation
    expect(await ended(id, ana)).toMatchObject({ total: 1, changed: 1 })
    expect(await bench.store.getJob(hers)).toMatchObject({ status: 'waiting' })
    expect(await bench.store.getJob(his)).toMatchObject({ status: 'dead' })
    for (const line of [
      `GET /v1/operations/${id}`,
      `GET /v1/operations/${id}/jobs`,
      `POST /v1/operations/${id}/abort`,
    ])
      expect((await bench.call(line, { as: bob })).status).toBe(404)
    expect((await bench.call('GET /v1/operations', { as: bob })).body.operations).toEqual([])
    expect((await bench.call('GET /v1/operations', { as: ana })).body.operations).toMatchObject([{ id }])
  })
})

describe('a cause', () => {
  it('OPS-9 is marked with who and why, and shows when it is back', async () => {
    await kill(bench.store, { type: 'marked' }, { code: 'MARKED', reason: 'torn' })
    const { groups }: DeadLetterList = (await bench.call('GET /v1/dead-letters')).body
    const fresh = groups.find(({ code }) => code === 'MARKED')
    expect(fresh?.state).toBe('new')
    const cause = fresh?.cause_id
    const line = `PATCH /v1/dead-letters/${cause}`
    const marked = await bench.call(line, { body: { state: 'resolved', reason: 'fixed' } })
    expect(marked.body.group).toMatchObject({ state: 'resolved', state_reason: 'fixed', back_since: null })
    expect(marked.body.group.changed_by).toMatch(/^token:/)
    await kill(bench.store, { type: 'marked', owner: 'ana' }, { code: 'MARKED', reason: 'torn' })
    const { group } = (await bench.call(`GET /v1/dead-letters/${cause}`)).body
    expect(group).toMatchObject({ state: 'resolved', jobs: 2 })
    expect(Date.parse(group.back_since)).toBeGreaterThan(Date.parse(group.changed_at) - 1)

    const ana = await bench.token({ role: 'admin', owner: 'ana' })
    const own = await bench.call(`GET /v1/dead-letters/${cause}`, { as: ana })
    expect(own.body.group).toMatchObject({ jobs: 1, state: 'resolved', changed_by: null, state_reason: null })
    expect((await bench.call(line, { as: ana, body: { state: 'ignored' } })).status).toBe(403)
    expect((await bench.call(line, { body: { state: 'gone' } })).status).toBe(400)
    expect((await bench.call('PATCH /v1/dead-letters/none', { body: { state: 'ignored' } })).status).toBe(404)
  })
})

describe('a server that dies', () => {
  // Its app begins no operation: only the processes run them.
  let quiet: HttpBench
  beforeAll(async () => {
    quiet = await openHttpBench()
  })
  afterAll(() => quiet.close())

  async function start() {
    const served = await startServe([], { DATABASE_URL: quiet.database.url })
    const secret = await quiet.token({ role: 'admin' })
    return { ...served, headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' } }
  }

  it('OPS-9 leaves its redrive to the next one, which goes on with it, and each job is changed once', async () => {
    const ids = await killMany('survivor', 40, undefined, quiet)
    const first = await start()
    const response = await fetch(`${first.url}/v1/operations`, {
      method: 'POST',
      headers: first.headers,
      body: JSON.stringify({ action: 'redrive', q: 'type:survivor', rate_per_s: 8, expect: 40 }),
    })
    expect(response.status).toBe(202)
    const { operation } = (await response.json()) as { operation: Operation }
    const read = () => quiet.store.readOperation(operation.id)
    await expect.poll(async () => (await read())?.changed, PATIENCE).toBeGreaterThan(0)
    first.command.kill('SIGKILL')
    await first.command.result
    const left = await read()
    expect(left).toMatchObject({ state: 'running' })
    expect(left?.changed).toBeLessThan(40)

    await quiet.elapse(31_000)
    await start()
    await expect.poll(async () => (await read())?.state, PATIENCE).toBe('done')
    expect(await read()).toMatchObject({ total: 40, changed: 40, refused: 0 })
    for (const id of ids) {
      const retries = (await quiet.store.listEvents(id)).filter(
        ({ data }) => data.details['cause'] === 'retry',
      )
      expect(retries).toHaveLength(1)
      expect(await quiet.store.getJob(id)).toMatchObject({ status: 'waiting', generation: 2 })
    }
  }, 120_000)
})
