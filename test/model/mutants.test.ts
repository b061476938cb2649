import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { leaseProperty } from './lease-model.ts'
import { createModelBench, type ModelBench } from './model-bench.ts'
import { mutants, withMutant } from './mutants.ts'
import { countingOf } from './policies.ts'

// The runs are the same every time: a mutant that one run finds is found.
const seed = 20_260_101
const maxRuns = 200
const schema = 'unstuck'

describe('the model test', () => {
  const profile = nativeProfile(schema)
  const [table] = profile.tables
  let bench: ModelBench
  beforeAll(async () => {
    bench = await createModelBench({ profile, table, schema })
  })
  afterAll(() => bench.close())

  const property = () => leaseProperty(bench, countingOf(table.policy))
  const search = () => fc.check(property(), { seed, numRuns: maxRuns, endOnFailure: true })
  const repeat = (path: string) => fc.check(property(), { seed, path, numRuns: 1, endOnFailure: true })

  for (const mutant of mutants) {
    it(`${mutant.id} the model notices ${mutant.fault}`, { timeout: 60_000 }, async () => {
      const found = await withMutant(bench.database.pool, { schema, table }, mutant, search)
      expect(found.failed, `${maxRuns} runs found nothing`).toBe(true)
      // Noticed by what the engine does, and not because it cannot run.
      expect(String(found.errorInstance)).toContain('PostgreSQL and the model differ')
      // And only because of the mutant: the engine as it is passes the same run.
      expect((await repeat(found.counterexamplePath ?? '')).errorInstance).toBeNull()
    })
  }
})
