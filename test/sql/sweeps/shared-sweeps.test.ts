// One sweep serves the fleet, by the time of the last one: what happens if that time is wrong.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { HOUR, SECOND } from '../../../src/store/conformance/builders.ts'
import { createPostgresBench, type PostgresBench } from '../../support/postgres-harness.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let bench: PostgresBench
let harness: Awaited<ReturnType<PostgresBench['open']>>

beforeAll(async () => {
  bench = await createPostgresBench({ profile, table })
  harness = await bench.open()
})
afterAll(() => bench.close())

it('REAP-17 a sweep from before the clock was set back makes no other one redundant', async () => {
  const { store, elapse } = harness
  const interval = 10 * SECOND
  const isDue = async () => {
    const times = { reportMs: interval, sweepIntervalMs: interval }
    const report = { workerId: 'w', types: [], concurrency: 1, running: 0, ...times }
    return (await store.reportWorker({ ...report, phase: 'running' })).isSweepDue
  }
  await store.sweepJobs({ reaper: { reaperId: 'before' } })
  expect(await isDue()).toBe(false)
  await elapse(-HOUR)
  expect(await isDue()).toBe(true)
  const { isRedundant } = await store.sweepJobs({ reaper: { reaperId: 'after', intervalMs: interval } })
  expect(isRedundant).not.toBe(true)
  expect(await isDue()).toBe(false)
})
