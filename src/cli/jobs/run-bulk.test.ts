import { afterEach, expect, it, vi } from 'vitest'
import { scopes } from '../../commands/actor.ts'
import type { JobStore } from '../../store/job-store.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
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
