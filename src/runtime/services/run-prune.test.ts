import { expect, it } from 'vitest'
import { createMemoryStore } from '../../store/memory/index.ts'
import { runPrune } from './run-prune.ts'

const day = 86_400_000

it('OPS-2 a pass deletes every ended job past the retention, in steps, and never a waiting or running one', async () => {
  const store = createMemoryStore({ policy: { retentionDays: 14 } })
  const old = new Date(Date.now() - 15 * day)
  for (let n = 0; n < 25; n++)
    store.plantJob({
      type: 'asr',
      status: n % 2 === 0 ? 'succeeded' : 'dead',
      finishedAt: old,
      updatedAt: old,
    })
  const kept = [
    store.plantJob({ type: 'asr', status: 'waiting', createdAt: old, updatedAt: old }),
    store.plantJob({ type: 'asr', status: 'running', createdAt: old, updatedAt: old }),
    store.plantJob({ type: 'asr', status: 'succeeded', finishedAt: new Date(Date.now() - 13 * day) }),
  ]
  const steps: number[] = []
  expect(await runPrune(store, { batchSize: 10, onStep: (deleted) => steps.push(deleted) })).toBe(25)
  expect(steps.at(-1)).toBe(25)
  expect(steps.length).toBeGreaterThanOrEqual(3)
  for (const jobId of kept) expect(await store.getJob(jobId)).not.toBeNull()
})

it('OPS-2 a retention of the call goes before that of the policy', async () => {
  const store = createMemoryStore({ policy: { retentionDays: 30 } })
  store.plantJob({ type: 'asr', status: 'dead', finishedAt: new Date(Date.now() - 8 * day) })
  expect(await runPrune(store)).toBe(0)
  expect(await runPrune(store, { retentionDays: 7 })).toBe(1)
})
