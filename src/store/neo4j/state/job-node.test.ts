import { describe, expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import { emptyRow } from '../../memory/state/new-job.ts'
import { activeKey, BUCKETS, bucketOf, toJob, toNode } from './job-node.ts'

const at = new Date('2026-01-02T03:04:05.678Z')
const plain = { ...emptyRow('0190a0b0-0000-7000-8000-000000000001', at), type: 'embed', queue: 'embed' }

describe('a job as a node', () => {
  it.each<Partial<Job>>([
    {},
    { status: 'running', workerId: 'w', leaseId: 'l', leaseExpiresAt: at, heartbeatAt: at, fence: 3 },
    { status: 'succeeded', finishedAt: at, result: { vectors: [1, 2.5] } },
    {
      status: 'dead',
      finishedAt: at,
      error: { code: 'E', reason: 'r', category: 'PERMANENT', stack: 's', attempt: 2 },
    },
    {
      status: 'cancelled',
      error: { code: 'cancelled', reason: null, category: null, stack: null, attempt: null },
    },
    { payload: null, priority: -5, dedupeKey: 'k', owner: 'o', runAt: at, maxAttempts: 7 },
  ])('WORK-7 comes back as it was: %j', (fields) => {
    const job = { ...plain, ...fields }
    expect(toJob(toNode(job))).toEqual(job)
  })

  it('LEASE-2 has the names of document 002', () => {
    const held = { ...plain, status: 'running', workerId: 'w', leaseExpiresAt: at } as const
    expect(toNode(held)).toMatchObject({ status: 'processing', lock_owner: 'w' })
    expect(toNode(plain)).toMatchObject({ status: 'pending', lock_owner: null, lock_until: null })
    expect(toNode({ ...plain, status: 'cancelled' })).toMatchObject({
      status: 'failed',
      error_code: 'cancelled',
    })
  })

  it('WORK-7 only an unfinished job keeps its dedupe key to itself', () => {
    const keyed = { ...plain, dedupeKey: 'k' }
    expect(toNode(keyed)['active_key']).toBe(activeKey('embed', 'k'))
    expect(toNode({ ...keyed, status: 'dead' })['active_key']).toBeNull()
    expect(activeKey('a', 'b:c')).not.toBe(activeKey('a:b', 'c'))
  })

  it('LEASE-1 every id has a bucket', () => {
    const buckets = Array.from({ length: 500 }, (_, nth) => bucketOf(`job-${nth}`))
    expect(new Set(buckets).size).toBe(BUCKETS)
    expect(Math.max(...buckets)).toBeLessThan(BUCKETS)
  })
})
