import { describe, expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import type { JobStore, NewOperation } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { OperationRunner } from './operation-runner.ts'

const error = { code: 'A', reason: 'r', category: null, stack: null, attempt: 3 }
const retryDead: NewOperation = { action: 'retry', filter: { status: 'dead' }, q: 'status:dead' }

function storeWithDead(count: number): MemoryJobStore {
  const store = createMemoryStore()
  for (let n = 0; n < count; n++) store.plantJob({ type: 'asr', status: 'dead', failures: 3, error })
  return store
}

async function begin(store: JobStore, fields: Partial<NewOperation> = {}): Promise<string> {
  const begun = await store.beginOperation({ ...retryDead, ...fields })
  if (begun.outcome !== 'begun') throw new Error(begun.outcome)
  return begun.operation.id
}

const untilState = (store: JobStore, id: string, state: string) =>
  vi.waitFor(async () => expect(await store.readOperation(id)).toMatchObject({ state }), { timeout: 30_000 })

describe('OperationRunner', () => {
  it('OPS-9 runs what was begun, and what is begun later', async () => {
    const store = storeWithDead(3)
    const runner = new OperationRunner({ tables: [{ store }], pollMs: 10 })
    const first = await begin(store)
    runner.wake()
    await untilState(store, first, 'done')
    const second = await begin(store, { action: 'cancel', filter: { status: 'waiting' } })
    await untilState(store, second, 'done')
    expect(await store.readOperation(second)).toMatchObject({ changed: 3 })
    await runner.stop()
  })

  it('OPS-9 a slow one holds up no other', async () => {
    const store = storeWithDead(2)
    const runner = new OperationRunner({ tables: [{ store }], pollMs: 10 })
    const slow = await begin(store, { ratePerS: 0.01 })
    const quick = await begin(store, { action: 'cancel', filter: { status: 'waiting' } })
    runner.wake()
    await untilState(store, quick, 'done')
    expect(await store.readOperation(slow)).toMatchObject({ state: 'running' })
    await runner.stop()
    expect(await store.takeOperation()).toMatchObject({ operation: { id: slow } })
  })

  it('OPS-9 goes on with one whose process died, once its lease is over', async () => {
    const store = storeWithDead(1)
    const id = await begin(store, { leaseMs: 60_000 })
    const runner = new OperationRunner({ tables: [{ store }], pollMs: 10 })
    runner.wake()
    expect(await store.readOperation(id)).toMatchObject({ state: 'running', changed: 0 })
    store.elapse(60_001)
    await untilState(store, id, 'done')
    await runner.stop()
  })

  it('OPS-9 OPS-15 a table that does not answer keeps no operation of another from its turn', async () => {
    const store = storeWithDead(1)
    const silent: JobStore = { ...createMemoryStore(), takeOperation: () => new Promise(() => {}) }
    const failing: JobStore = {
      ...createMemoryStore(),
      takeOperation: () => Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'down')),
    }
    const runner = new OperationRunner({ tables: [silent, failing, store].map((each) => ({ store: each })) })
    const id = await begin(store)
    runner.wake()
    await untilState(store, id, 'done')
    void runner.stop()
  })

  it('OPS-9 one that cannot go on has failed, and says why', async () => {
    const store = storeWithDead(1)
    const broken: JobStore = {
      ...store,
      stepOperation: async () => {
        throw new Error('a bug')
      },
    }
    const id = await begin(store)
    const runner = new OperationRunner({ tables: [{ store: broken }], pollMs: 10 })
    runner.wake()
    await untilState(store, id, 'failed')
    expect(await store.readOperation(id)).toMatchObject({ stopped: 'a bug', changed: 0 })
    await runner.stop()
  })
})
