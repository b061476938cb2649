import { afterEach, describe, expect, it, vi } from 'vitest'
import { scopes } from '../../commands/actor.ts'
import type { JobStore } from '../../store/job-store.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import type { NewOperation } from '../../store/ports/operation-store.ts'
import type { CliContext } from '../connection/with-commands.ts'
import { runBulk } from './run-bulk.ts'

afterEach(() => vi.restoreAllMocks())

/** The memory store without operations, like the Neo4j store. */
function withoutOperations(store: JobStore): JobStore {
  const refuse = () => expect.unreachable('asked for an operation')
  return Object.assign(Object.create(store) as JobStore, {
    lacks: new Set(['operations']),
    beginOperation: refuse,
  })
}

const flags = { reason: 'test data', actor: 'ana', yes: true, json: true }

function contextOf(store: JobStore, more: Partial<CliContext> = {}): CliContext {
  const tables = [{ name: 'jobs', store }]
  return { actor: { id: 'ana', scopes }, isReadOnly: false, tables, ...more } as unknown as CliContext
}

function captureOutput(): string[] {
  const written: string[] = []
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  return written
}

it('OPS-1 retry of many jobs refuses those whose source is gone', async () => {
  const store = createMemoryStore()
  for (const key of ['kept', 'lost']) store.plantJob({ type: 'asr', status: 'dead', owner: key })
  const written = captureOutput()
  const context = contextOf(store, { sourceExists: async ({ owner }) => owner !== 'lost' })
  const request = { action: 'retry', table: 'jobs', filter: { status: 'dead' }, q: 'status:dead' } as const
  const words = { planOf: String, done: 'retried', refused: 'refused', none: 'none' }
  await runBulk(context, [request], flags, words)
  expect(JSON.parse(written.join(''))).toMatchObject({ tables: [{ total: 2, changed: 1, refused: 1 }] })
  const { jobs } = await store.listJobs({ status: 'dead' }, { limit: 10 })
  expect(jobs.map(({ owner }) => owner)).toEqual(['lost'])
})

/** A store whose plans stop after two jobs. */
function withShortPlans(store: JobStore): JobStore {
  return Object.assign(Object.create(store) as JobStore, {
    beginOperation: (request: NewOperation) => store.beginOperation({ ...request, countLimit: 2 }),
  })
}

describe('a count that stopped at its limit', () => {
  const request = { action: 'retry', table: 'jobs', filter: { status: 'dead' }, q: 'status:dead' } as const
  const words = {
    planOf: (count: string) => `${count} jobs match.`,
    done: 'retried',
    refused: 'refused',
    none: 'none',
  }
  const open = (jobs: number) => {
    const store = createMemoryStore()
    for (let n = 0; n < jobs; n++) store.plantJob({ type: 'asr', status: 'dead' })
    return { store, context: contextOf(withShortPlans(store)) }
  }

  it('OPS-16 a dry run says that more may match', async () => {
    const { context } = open(3)
    const written = captureOutput()
    await runBulk(context, [request], { ...flags, dryRun: true }, words)
    expect(JSON.parse(written.splice(0).join(''))).toEqual({
      dryRun: true,
      count: 2,
      atLeast: ['total'],
      tables: [{ table: 'jobs', total: 2, atLeast: ['total'] }],
    })
    await runBulk(context, [request], { ...flags, dryRun: true, json: false }, words)
    expect(written.join('')).toBe(
      '≥ 2 jobs match. Counted in the newest 100,000 jobs; older ones may match too.\n',
    )
  })

  it('OPS-16 the operation compares the expected number, and changes all that match', async () => {
    const { context, store } = open(3)
    const written = captureOutput()
    const expecting = (expect: number) => runBulk(context, [request], { ...flags, expect }, words)
    for (const expected of [1, 4])
      await expect(expecting(expected)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' })
    expect((await store.readHealth()).waiting).toBe(0)
    await expecting(3)
    expect(JSON.parse(written.join(''))).toMatchObject({ tables: [{ total: 3, changed: 3 }] })
  })

  it('OPS-16 a job beyond the limit is found by the operation', async () => {
    const { context, store } = open(1)
    for (let n = 0; n < 2; n++) store.plantJob({ type: 'other', status: 'dead' })
    const written = captureOutput()
    const rare = { ...request, filter: { status: 'dead', type: 'asr' }, q: 'type:asr' } as const
    await runBulk(context, [rare], flags, words)
    expect(JSON.parse(written.join(''))).toMatchObject({ tables: [{ total: 1, changed: 1 }] })
  })

  it('OPS-16 the limit of all tables is kept by what the operations take', async () => {
    const { store, context } = open(4)
    const other = createMemoryStore()
    for (let n = 0; n < 4; n++) other.plantJob({ type: 'asr', status: 'dead' })
    const tables = [...context.tables, { name: 'more', store: withShortPlans(other) }] as const
    captureOutput()
    const both = [request, { ...request, table: 'more' }]
    await runBulk({ ...context, tables } as unknown as CliContext, both, { ...flags, limit: 5 }, words)
    const changed = await Promise.all([store.readHealth(), other.readHealth()])
    expect(changed.map(({ waiting }) => waiting)).toEqual([4, 1])
  })
})

it('OPS-9 a store without operations discards the chosen jobs, with the same questions and report', async () => {
  const store = createMemoryStore()
  const enqueued = await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }, { type: 'mail' }])
  const context = contextOf(withoutOperations(store))
  const written = captureOutput()
  const request = { action: 'discard', table: 'jobs', filter: { type: 'asr' }, q: 'type:asr' } as const
  const words = { planOf: String, done: 'deleted', refused: 'refused', none: 'none' }

  await expect(runBulk(context, [request], { ...flags, expect: 3 }, words)).rejects.toMatchObject({
    code: 'PRECONDITION_FAILED',
  })
  await runBulk(context, [request], flags, words)
  expect(JSON.parse(written.join(''))).toMatchObject({
    tables: [{ table: 'jobs', operationId: null, total: 2, changed: 2, refused: 0 }],
  })
  const left = await Promise.all(enqueued.map(({ jobId }) => store.getJob(jobId)))
  expect(left.map((job) => job?.type ?? null)).toEqual([null, null, 'mail'])
})
