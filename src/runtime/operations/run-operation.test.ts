import { describe, expect, it } from 'vitest'
import type { HeldOperation, NewOperation, Operation } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { type RunOperationOptions, runOperation } from './run-operation.ts'

const error = { code: 'GW_5XX', reason: 'bad', category: null, stack: null, attempt: 3 }

function storeWithDead(count: number): MemoryJobStore {
  const store = createMemoryStore({ policy: { failureBackoffStepsMs: [60_000] } })
  for (let n = 0; n < count; n++) store.plantJob({ type: 'asr', status: 'dead', failures: 3, error })
  return store
}

async function begin(store: MemoryJobStore, fields: Partial<NewOperation> = {}): Promise<HeldOperation> {
  const wish = { action: 'redrive', filter: { status: 'dead' }, q: 'status:dead', ratePerS: 10 } as const
  const begun = await store.beginOperation({ ...wish, leaseMs: 30_000, ...fields })
  if (begun.outcome !== 'begun' || begun.leaseId === null) throw new Error(begun.outcome)
  return { operation: begun.operation, leaseId: begun.leaseId }
}

/** By default time stands still. */
async function redrive(
  store: MemoryJobStore,
  fields: Partial<NewOperation> = {},
  options: RunOperationOptions = {},
): Promise<Operation | null> {
  return runOperation(store, await begin(store, fields), { wait: async () => {}, ...options })
}

async function countDead(store: MemoryJobStore): Promise<number> {
  return (await store.listJobs({ status: 'dead' }, { limit: 1000 })).jobs.length
}

/** While a redrive waits, a worker ends what it brought back. */
function workedBy(store: MemoryJobStore, isFine: (nth: number) => boolean): RunOperationOptions {
  let nth = 0
  return {
    wait: async () => {
      for (const job of await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 100 })) {
        nth += 1
        if (isFine(nth)) await store.completeJobs([job])
        else await store.failJobs([{ ...job, code: 'GW_5XX' }])
      }
    },
  }
}

describe('runOperation', () => {
  it('OPS-9 changes all at the given rate, with who and why', async () => {
    const store = storeWithDead(25)
    const waits: number[] = []
    const told: number[] = []
    const held = await begin(store, { actor: 'ana', reason: 'INC-431' })
    const ended = await runOperation(store, held, {
      wait: async (ms) => waits.push(ms),
      onProgress: ({ changed }) => told.push(changed),
    })
    expect(ended).toMatchObject({ state: 'done', stopped: null, total: 25, changed: 25, refused: 0 })
    expect(waits).toEqual([1_000, 1_000])
    expect([...new Set(told)]).toEqual([0, 10, 20, 25])
    const [first] = (await store.listOperationJobs(held.operation.id)).jobs
    const [event] = await store.listEvents(first?.jobId ?? '')
    expect(event?.data.details).toMatchObject({ cause: 'retry', actor: 'ana', reason: 'INC-431' })
  })

  it('OPS-9 a rate below one a second spaces single jobs', async () => {
    const waits: number[] = []
    await redrive(storeWithDead(3), { ratePerS: 0.5 }, { wait: async (ms) => waits.push(ms) })
    expect(waits).toEqual([2_000, 2_000])
  })

  it('OPS-9 a long pause renews the lease on the way', async () => {
    const store = storeWithDead(2)
    const wait = async (ms: number) => {
      store.elapse(ms)
      expect(await store.takeOperation()).toBeNull()
    }
    expect(await redrive(store, { ratePerS: 0.01 }, { wait })).toMatchObject({ state: 'done', changed: 2 })
  })

  it('OPS-9 without a rate nothing waits', async () => {
    const store = storeWithDead(1_200)
    const wait = async () => {
      throw new Error('it waited')
    }
    const wish = { action: 'discard', filter: { status: 'dead' }, q: 'status:dead', leaseMs: 30_000 } as const
    const begun = await store.beginOperation(wish)
    if (begun.outcome !== 'begun' || begun.leaseId === null) throw new Error(begun.outcome)
    const ended = await runOperation(store, { ...begun, leaseId: begun.leaseId }, { wait })
    expect(ended).toMatchObject({ state: 'done', changed: 1_200 })
  })

  it('OPS-9 the rest follows a canary that succeeded', async () => {
    const store = storeWithDead(5)
    const ended = await redrive(
      store,
      { canary: 1 },
      workedBy(store, () => true),
    )
    expect(ended).toMatchObject({ state: 'done', changed: 5, succeeded: 1 })
  })

  it('OPS-9 a canary that fails again stops it at the first attempt, with the rest as it was', async () => {
    const store = storeWithDead(5)
    const ended = await redrive(
      store,
      { canary: 1 },
      workedBy(store, () => false),
    )
    expect(ended).toMatchObject({ state: 'stopped', stopped: 'canary-failed', changed: 1, failed: 1 })
    expect(await countDead(store)).toBe(4)
  })

  it('OPS-9 a canary that is refused proves nothing: the next one is the canary', async () => {
    const store = storeWithDead(5)
    const held = await begin(store, { canary: 1 })
    const [first] = (await store.listOperationJobs(held.operation.id)).jobs
    await store.discardJobs([first?.jobId ?? ''])
    const ended = await runOperation(
      store,
      held,
      workedBy(store, () => false),
    )
    expect(ended).toMatchObject({ stopped: 'canary-failed', changed: 1, refused: 1, failed: 1 })
    expect(await countDead(store)).toBe(3)
  })

  it('OPS-9 a canary that nobody takes stops it after ten minutes, whoever has waited for it', async () => {
    const store = storeWithDead(2)
    const wait = async () => store.elapse(20_000)
    const ended = await redrive(store, { canary: 1 }, { wait })
    expect(ended).toMatchObject({ stopped: 'canary-timeout', changed: 1 })
    expect(ended?.phaseMs).toBeGreaterThanOrEqual(600_000)
  })

  it('OPS-9 stops when half of the first 20 have failed again', async () => {
    const store = storeWithDead(100)
    const ended = await redrive(
      store,
      { ratePerS: 5 },
      workedBy(store, (nth) => nth % 2 === 0),
    )
    expect(ended).toMatchObject({ stopped: 'too-many-failures', changed: 20, failed: 10, succeeded: 10 })
    expect(await countDead(store)).toBe(80)
  })

  it('OPS-9 goes on where fewer than half fail', async () => {
    const store = storeWithDead(60)
    const ended = await redrive(
      store,
      {},
      workedBy(store, (nth) => nth % 3 !== 0),
    )
    expect(ended).toMatchObject({ state: 'done', changed: 60, failed: 6 })
  })

  it('REAP-1 a job that kills its worker again has failed again', async () => {
    const store = storeWithDead(2)
    const wait = async () => {
      await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1, leaseMs: 1 })
      store.elapse(1_000)
      await store.sweepJobs()
    }
    expect(await redrive(store, { canary: 1 }, { wait })).toMatchObject({
      stopped: 'canary-failed',
      failed: 1,
    })
  })

  it('BREAK-2 stops when the breaker of a queue opens, and does not start where it is open', async () => {
    const store = storeWithDead(30)
    await store.mapDependency('asr', 'gateway')
    const wait = async () => {
      await store.holdBreaker('gateway')
    }
    expect(await redrive(store, {}, { wait })).toMatchObject({ stopped: 'breaker-open', changed: 10 })
    expect(await redrive(store, { canary: 1 })).toMatchObject({ stopped: 'breaker-open', changed: 0 })
  })

  it('OPS-9 who leaves gives it back, and another goes on where it was', async () => {
    const store = storeWithDead(30)
    const stop = new AbortController()
    const onProgress = ({ changed }: Operation) => changed > 0 && stop.abort()
    const left = await redrive(store, {}, { signal: stop.signal, onProgress })
    expect(left).toMatchObject({ state: 'running', changed: 10 })
    const next = await store.takeOperation()
    if (next === null) throw new Error('nobody could take it')
    expect(await runOperation(store, next, { wait: async () => {} })).toMatchObject({
      state: 'done',
      changed: 30,
    })
    expect(await store.listJobs({ status: 'waiting' })).toMatchObject({
      jobs: Array.from({ length: 30 }, () => ({ generation: 2 })),
    })
  })

  it('OPS-9 an abort from elsewhere ends it between two steps', async () => {
    const store = storeWithDead(30)
    const held = await begin(store)
    const wait = () => store.abortOperation(held.operation.id)
    expect(await runOperation(store, held, { wait })).toMatchObject({
      state: 'stopped',
      stopped: 'interrupted',
      changed: 10,
    })
    expect(await countDead(store)).toBe(20)
  })
})
