import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { gateProperty, groupProperty, leaseProperty } from './lease-model.ts'
import { createModelBench, type ModelBench } from './model-bench.ts'
import { countingOf, everyCounting } from './policies.ts'

const runs = Number(process.env['UNSTUCK_PROPERTY_RUNS'] ?? 60)
const seed = process.env['UNSTUCK_PROPERTY_SEED']
const schema = 'unstuck'
const timeoutMs = 60_000 + runs * 3_000

describe('native table', () => {
  const profile = nativeProfile(schema)
  const [table] = profile.tables
  let bench: ModelBench
  beforeAll(async () => {
    bench = await createModelBench({ profile, table, schema })
  })
  afterAll(() => bench.close())

  it(
    'LEASE-5 every lease ever granted is answered as the model says, whatever else happens',
    async () => {
      const property = leaseProperty(bench, everyCounting)
      await fc.assert(property, parameters(runs))
    },
    timeoutMs,
  )

  it(
    'RATE-7 jobs of groups and limited queues start when the model says so',
    async () => {
      const property = groupProperty(bench, everyCounting)
      await fc.assert(property, parameters(Math.ceil(runs / 4)))
    },
    timeoutMs,
  )

  it(
    'BREAK-1 breakers and buckets are as the model says',
    async () => {
      const property = gateProperty(bench, everyCounting)
      await fc.assert(property, parameters(Math.ceil(runs / 4)))
    },
    timeoutMs,
  )
})

describe('clip table', () => {
  const [table] = clipProfile.tables
  let bench: ModelBench
  beforeAll(async () => {
    bench = await createModelBench({ profile: clipProfile, table, applicationSql: clipTables, schema })
  })
  afterAll(() => bench.close())

  it(
    'LEASE-5 the same holds for a table that counts everything in one column of attempts',
    async () => {
      const property = leaseProperty(bench, countingOf(table.policy))
      await fc.assert(property, parameters(Math.ceil(runs / 4)))
    },
    timeoutMs,
  )
})

function parameters(numRuns: number): fc.Parameters<unknown> {
  return {
    numRuns,
    // Shrinking ends before the test does, or nobody would see what it found. Runs that were never made are no success.
    plugins: [fc.interruptAfterTimeLimit(timeoutMs - 10_000, { failOnInterrupt: true })],
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  }
}
