import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { HeartbeatAnswer, Lease } from '../../job/lease.ts'
import { nativePolicy } from '../../policy/policy.ts'
import type { HeartbeatReport } from '../../store/job-store.ts'
import { LeaseThread } from './lease-thread.ts'
import { driveThread, type FromThread } from './thread-heartbeat.ts'

const LEASE_MS = 3_000
const lease: Lease = { jobId: 'job', leaseId: 'lease' }

interface PendingCall {
  connection: number
  answer: (answer?: HeartbeatAnswer) => void
  fail: () => void
}

/** A thread over connections whose calls the test answers, one by one. */
function startThread() {
  const calls: PendingCall[] = []
  const sent: FromThread[] = []
  let connections = 0
  const thread = new LeaseThread({
    workerId: 'worker',
    policy: {},
    intervalMs: 500,
    open() {
      const connection = ++connections
      return {
        store: {
          readPolicy: async () => ({ ...nativePolicy, defaultLeaseMs: LEASE_MS }),
          heartbeatJobs: (leases) =>
            new Promise<HeartbeatReport>((resolve, reject) => {
              calls.push({
                connection,
                answer: (answer = 'kept') =>
                  resolve({ answers: leases.map((each) => ({ ...each, answer })), reaperAgeMs: null }),
                fail: () => reject(new Error('the server is down')),
              })
            }),
        },
        // A silent connection takes its time to close.
        close: () => new Promise(() => {}),
      }
    },
    send: (message) => sent.push(message),
    onStopped: () => {},
  })
  return { thread, calls, sent }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('LEASE-4 a lease is not handed over while the second try of an earlier heartbeat may still write it', async () => {
  const { thread, calls, sent } = startThread()
  await vi.advanceTimersByTimeAsync(0)
  thread.hear({ kind: 'change', held: [[lease.leaseId, lease.jobId]], dropped: [] })
  await vi.advanceTimersByTimeAsync(500)
  const [heartbeat] = calls
  await vi.advanceTimersByTimeAsync(LEASE_MS / 3 - 100)
  thread.hear({ kind: 'hand-over', lease, leaseMs: LEASE_MS })
  const extension = calls[1]
  await vi.advanceTimersByTimeAsync(100)
  const secondTry = calls[2]
  expect(calls.map(({ connection }) => connection)).toEqual([1, 1, 2])

  extension?.answer()
  heartbeat?.answer()
  await vi.advanceTimersByTimeAsync(10)
  for (const call of calls.slice(3)) call.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(sent.filter(({ kind }) => kind === 'handed-over')).toEqual([])

  secondTry?.answer()
  await vi.advanceTimersByTimeAsync(10)
  for (const call of calls.slice(3)) call.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(sent.filter(({ kind }) => kind === 'handed-over')).toMatchObject([
    { lease, lastBeat: { answer: 'kept' } },
  ])
})

it('LEASE-4 a lease is extended again if an earlier heartbeat was under way: the server may have run it last', async () => {
  const { thread, calls, sent } = startThread()
  const handedOver = () => sent.filter(({ kind }) => kind === 'handed-over')
  await vi.advanceTimersByTimeAsync(0)
  thread.hear({ kind: 'change', held: [[lease.leaseId, lease.jobId]], dropped: [] })
  await vi.advanceTimersByTimeAsync(500)
  thread.hear({ kind: 'hand-over', lease, leaseMs: LEASE_MS })
  const [heartbeat, extension] = calls

  heartbeat?.answer()
  extension?.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(handedOver()).toEqual([])
  expect(calls).toHaveLength(3)
  calls[2]?.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(handedOver()).toMatchObject([{ lease, lastBeat: { answer: 'kept' } }])
})

it('LEASE-4 a lease is extended once if no call with it is under way', async () => {
  const { thread, calls, sent } = startThread()
  const other: Lease = { jobId: 'other', leaseId: 'lease' }
  await vi.advanceTimersByTimeAsync(0)
  thread.hear({ kind: 'change', held: [[lease.leaseId, lease.jobId]], dropped: [] })
  await vi.advanceTimersByTimeAsync(500)
  thread.hear({ kind: 'hand-over', lease: other, leaseMs: LEASE_MS })
  expect(calls).toHaveLength(2)
  calls[1]?.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(sent.filter(({ kind }) => kind === 'handed-over')).toMatchObject([{ lease: other }])
  expect(calls).toHaveLength(2)
})

it('LEASE-4 a lost lease is handed over as lost, whatever is still under way', async () => {
  const { thread, calls, sent } = startThread()
  const handedOver = () => sent.filter(({ kind }) => kind === 'handed-over')
  await vi.advanceTimersByTimeAsync(0)
  thread.hear({ kind: 'change', held: [[lease.leaseId, lease.jobId]], dropped: [] })
  await vi.advanceTimersByTimeAsync(500)
  thread.hear({ kind: 'hand-over', lease, leaseMs: LEASE_MS })
  const [heartbeat, extension] = calls
  extension?.answer('lost')
  await vi.advanceTimersByTimeAsync(10)
  expect(handedOver()).toMatchObject([{ lease, lastBeat: { answer: 'lost' } }])
  heartbeat?.answer('lost')
  await vi.advanceTimersByTimeAsync(10)
  for (const call of calls.slice(2)) call.answer('lost')
  await vi.advanceTimersByTimeAsync(10)
  expect(handedOver()).toHaveLength(1)
})

it('LEASE-4 an earlier heartbeat that reads that a lease is lost ends its hand-over', async () => {
  const port = Object.assign(new EventEmitter(), { postMessage: () => {} })
  const events = { onBeat: () => {}, onFailed: () => {}, onRecovered: () => {}, onLag: () => {} }
  const heartbeat = driveThread(port, events)
  const hear = (answer: HeartbeatAnswer, sentAtMs: number) =>
    void port.emit('message', { kind: 'answers', answers: [{ ...lease, answer }], sentAtMs })
  const handedOver = heartbeat.handOver(lease, LEASE_MS)
  hear('kept', 1)
  hear('lost', 2)
  expect(await handedOver).toEqual({ answer: 'lost', sentAtMs: 2 })
})

it('LEASE-4 a heartbeat that hangs on a dead socket is repeated until the server is back', async () => {
  const { thread, calls, sent } = startThread()
  const answers = () => sent.filter(({ kind }) => kind === 'answers')
  await vi.advanceTimersByTimeAsync(0)
  thread.hear({ kind: 'change', held: [[lease.leaseId, lease.jobId]], dropped: [] })
  await vi.advanceTimersByTimeAsync(500 + LEASE_MS / 3)
  for (const nth of [1, 2]) {
    expect(calls).toHaveLength(nth + 1)
    calls[nth]?.fail()
    await vi.advanceTimersByTimeAsync(250)
  }
  expect(answers()).toEqual([])
  calls[3]?.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(answers()).toHaveLength(1)
  expect(calls.map(({ connection }) => connection)).toEqual([1, 2, 3, 4])
})

it('LEASE-4 the answer of a slow connection counts if another one cannot be opened', async () => {
  const { thread, calls, sent } = startThread()
  await vi.advanceTimersByTimeAsync(0)
  thread.hear({ kind: 'change', held: [[lease.leaseId, lease.jobId]], dropped: [] })
  await vi.advanceTimersByTimeAsync(500 + LEASE_MS / 3)
  calls[1]?.fail()
  await vi.advanceTimersByTimeAsync(100)
  calls[0]?.answer()
  await vi.advanceTimersByTimeAsync(10)
  expect(sent.filter(({ kind }) => kind === 'answers' || kind === 'failed')).toMatchObject([
    { kind: 'answers' },
  ])
  // It stays in use.
  await vi.advanceTimersByTimeAsync(500)
  expect(calls.map(({ connection }) => connection)).toEqual([1, 2, 1])
})
