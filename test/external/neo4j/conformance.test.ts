import { afterAll, beforeAll, describe } from 'vitest'
import { describeJobStore } from '../../../src/store/conformance/index.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

describe('nodes', () => {
  let bench: Neo4jBench
  beforeAll(async () => {
    bench = await createNeo4jBench('ConformanceJob')
  })
  afterAll(() => bench.close())
  describeJobStore('Neo4j', () => bench.open(), {
    lacks: [
      'transactions',
      'notify',
      'skip-locked',
      'dispatch',
      'enforce',
      'operations',
      'webhooks',
      'deletion',
      'dedupe-rules',
      'groups',
    ],
  })
})
