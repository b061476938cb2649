import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { UnstuckError } from '../../errors/index.ts'

/** The lease of the bench is 500 ms, so the worker looks at its clocks within this time. */
const LOOK_MS = 450

let bench: MemoryWorkerBench
beforeEach(() => {
  bench = new MemoryWorkerBench()
})
afterEach(() => bench.stop())

it('C6 C27 the longer lease of a tx that failed ends with the next heartbeat, and the job is at risk when that lease ends', async () => {
  let isExtended = false
  let isDown = false
  const cut = bench.withVerb('heartbeatJobs', (real) => async (leases, options) => {
    if (isDown) throw new UnstuckError('DATABASE_UNREACHABLE', 'connection refused')
    if (options?.leaseMs !== undefined) isExtended = true
    else if (isExtended) {
      isDown = true
      // Until the worker has looked at its clocks, and found the longer lease.
      await sleep(LOOK_MS)
    }
    return real(leases, options)
  })
  const [jobId] = await bench.enqueue()
  const atRisk = bench.once('job:at-risk').then(() => 'at risk')
  const seen: string[] = []
  bench.work(
    async (_, { tx }) => {
      // It fails, after it has extended the lease by more than the wait below.
      await tx(async () => null).catch(() => {})
      seen.push(await Promise.race([atRisk, sleep(8_000, 'not at risk')]))
      isExtended = false
      isDown = false
    },
    { over: cut, sweepIntervalMs: 60_000 },
  )
  await bench.untilStatus(jobId, 'succeeded')
  expect(seen).toEqual(['at risk'])
})
