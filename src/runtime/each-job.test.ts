import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import { eachJob } from './each-job.ts'

describe('eachJob', () => {
  it('OPS-9 gives every job once, over pages, up to the limit', async () => {
    const store = createMemoryStore()
    await store.enqueueJobs(Array.from({ length: 1_100 }, () => ({ type: 'asr' })))
    const seen = new Set<string>()
    for await (const { id } of eachJob(store, { status: 'waiting' })) seen.add(id)
    expect(seen.size).toBe(1_100)
    let count = 0
    for await (const _ of eachJob(store, {}, { limit: 700 })) count += 1
    expect(count).toBe(700)
  })
})
