import { expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import { shortId } from './short-id.ts'

it('SEE-5 the short ids of a thousand jobs of one moment differ', async () => {
  const store = createMemoryStore({ now: () => Date.UTC(2030, 0, 1) })
  const jobs = await store.enqueueJobs(Array.from({ length: 1_000 }, () => ({ type: 'a' })))
  expect(new Set(jobs.map(({ jobId }) => shortId(jobId))).size).toBe(1_000)
  expect(new Set(jobs.map(({ jobId }) => jobId.slice(0, 8))).size).toBe(1)
})

it('SEE-5 an id that is as short is shown whole', () => {
  expect(['42', '1234567890123'].map(shortId)).toEqual(['42', '1234567890123'])
  expect(shortId('0198c1d4-6f0e-7c3a-9a51-3f4d2f6f2a10')).toBe('…3f4d2f6f2a10')
})
